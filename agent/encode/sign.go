package encode

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

func (v *view) cues() {
	inNew, newInOld := v.get("subject.in.new"), v.get("newsubject.in.old")
	cover, best, match := v.get("cover.old"), v.get("cover.old.best"), v.get("match")
	for k, name := range cueNames() {
		v.is("cue."+name, v.all&(1<<k) != 0)
		v.is("best."+name, v.d.cues&(1<<k) != 0)
	}
	strong := v.all&strongCues != 0
	v.add("strong.newsubject", any01(strong)*newInOld)
	v.add("strong.cover", any01(strong)*cover)
	v.add("best.match", any01(v.d.cues&(strongCues|cueNow|cueBegan|cueBack) != 0)*match)
	with := func(name string, c cue) {
		v.add(name+".cover", any01(v.all&c != 0)*best)
		v.add(name+".subject", any01(v.all&c != 0)*inNew)
		v.add(name+".newsubject", any01(v.all&c != 0)*newInOld)
	}
	with("wrong", cueWrong)
	with("now", cueNow)
	with("gone", cueGone)
	with("ended", cueEnded)
	with("change", cueChange)
	for _, k := range []cue{cueMaybe, cueAsk, cueAlso, cueExcept, cueSaid, cuePlan, cueOnce, cuePast} {
		v.add("not.now."+cueNames()[bits.TrailingZeros32(uint32(k))], any01(v.d.cues&k != 0)*match)
	}
	v.is("old.still", v.c.cues&cueStill != 0)
	v.add("swap.now", v.get("swap")*any01(v.d.cues&(strongCues|cueNow) != 0))
	v.add("value.now", v.get("number.shape")*any01(v.d.cues&(strongCues|cueNow) != 0))
	v.add("swap.past", v.get("swap")*any01(v.c.cues&(cuePast|cueOnce) != 0 || v.d.cues&(cuePast|cueOnce) != 0))
	met := v.meets()
	v.add("script", float64(min(met, 3))/3)
	v.add("script.both", any01(met > 0)*v.get("subject.both"))
	v.add("script.subject", any01(met > 0)*inNew)
	v.add("script.newsubject", any01(met > 0)*newInOld)
}

// meets counts the topics of the stored clause of which the new text tells the end or a
// change.
func (v *view) meets() int {
	var topics, met []string
	for _, i := range v.oAll {
		for _, t := range v.o.lang.topics[v.o.words[i].fold] {
			if !strings.HasSuffix(t, "!") {
				topics = append(topics, t)
			}
		}
	}
	for _, j := range v.nAll {
		for _, t := range v.n.lang.topics[v.n.words[j].fold] {
			if bare, ok := strings.CutSuffix(t, "!"); ok && slices.Contains(topics, bare) && !slices.Contains(met, bare) {
				met = append(met, bare)
			}
		}
	}
	return len(met)
}

func (v *view) shape() {
	o, n := v.o, v.n
	v.is("scope.differs", strings.Trim(o.Scope, "/") != strings.Trim(n.Scope, "/"))
	v.add("clauses.old", float64(min(len(o.clauses), 4))/4)
	event := v.c.verb < v.c.b && pastForm(&o.words[v.c.verb]) && !o.has(indices(v.c.a, v.c.b), func(w *word) bool { return w.class&(be|aux) != 0 })
	v.is("old.event.right", event && v.all&cueWrong == 0)
	v.is("old.verbless", v.c.verb >= v.c.b)
	v.is("new.verbless", v.d.verb >= v.d.b)
	v.is("old.asks", v.c.cues&(cueAsk|cueMaybe|cuePlan) != 0)
	v.is("long.match", v.get("cover.old") > .6 && v.get("cover.new") > .6)
	v.is("language.differs", o.lang != n.lang)
}

func pastForm(w *word) bool {
	return w.class&(be|aux) == 0 && w.class&verb != 0 && (strings.HasSuffix(w.fold, "ed") || w.class&base == 0 && !strings.HasSuffix(w.fold, "s") && utf8.RuneCountInString(w.fold) > 2)
}
