package tombstone

import (
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"
)

// lookalikes are letters, each followed by the Latin one that it looks like: the letters of these scripts in Unicode's
// table for UTS 39 (confusables.txt, version 13) that stand for one ASCII letter. Three more have the form of a Latin
// capital, and the case does not count.
const lookalikes = "" +
	"ɑaᴄcɡgıiɩiɪiǀlᴏoᴑoꜱsƽsᴜuʋuᴠvᴡwʏyᴢz" + // Latin
	"ΑAΒBϹCΕEϜFΗHΙIͿJΚKΜMϺMΝNΟOΡPΤTΧXΥYΖZαaϲcιiϳjοoσoρpυuνvγy" + // Greek
	"АAВBСCЕEԌGНHІIӀIЈJКKМMОOРPЅSТTѴVԜWХXУYҮYаaсcԁdеeһhҽeіiӏiјjоoрpԛqѕsѵvѡwԝwхxуyүy" + // Cyrillic
	"ՕOՏSՍUցgհhոnռnօoզqսu" + // Armenian
	"кkκkтtмm"

var latinOf = sync.OnceValue(func() map[rune]rune {
	out, letters := map[rune]rune{}, []rune(lookalikes)
	for i := 0; i < len(letters); i += 2 {
		out[letters[i]] = letters[i+1]
	}
	return out
})

// Latin is a text with the Latin letter for each letter that looks like one, and without widths and styles (full-width
// and mathematical letters): what a reader takes it for. It is for comparing, and no text that anybody is shown.
func Latin(text string) string {
	if ascii(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if is, ok := latinOf()[r]; ok {
			return is
		}
		return r
	}, norm.NFKC.String(text))
}
