package session

import (
	"bytes"
	"fmt"

	"stet/markdown"
	"stet/vault"
	"stet/vault/guard"
	"stet/vault/settings"
)

// smallest is the size of a message below which another file for it saves
// nothing.
const smallest = 512

// render is the transcript with the session's turns on its end. What stands
// there keeps its bytes, but for the keys that count and date it.
func (s *sealer) render(t *markdown.Transcript, at *target) ([]byte, []besides, error) {
	most := s.v.Settings().Bytes(settings.GuardMaxBytes)
	above := int(s.v.Settings().Bytes(settings.SessionsAttach))
	looked := s.v.Settings().Text(settings.GuardSecrets) != guard.Block
	for {
		data, beside, err := assemble(t, at, above)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case !looked && blank(t, data, guard.Sure(string(at.path), s.v.Secrets(at.path, data), data), at.have):
			looked = true
		case int64(len(data)) > most && above >= smallest:
			above /= 8
		default:
			return data, beside, nil // one that is too large still is for the guard to refuse
		}
	}
}

func assemble(t *markdown.Transcript, at *target, above int) ([]byte, []besides, error) {
	whole, before := *t, 0
	if at.data != nil {
		// The new messages are rendered behind as many as there are, for their numbers.
		if list := markdown.Parse(at.data).Messages(); len(list) > 0 {
			before = list[len(list)-1].Number
		}
		whole.Messages = nil
		for range before {
			whole.Messages = append(whole.Messages, markdown.Message{Role: "-"})
		}
		whole.Messages = append(whole.Messages, t.Messages...)
	}
	data, attached, err := markdown.RenderTranscript(&whole, markdown.TranscriptOptions{Name: at.path.Base(), AttachAbove: above})
	if err != nil {
		return nil, nil, err
	}
	var beside []besides
	for _, a := range attached {
		beside = append(beside, besides{vault.Path(at.path.Dir() + "/" + markdown.AttachmentDir(at.path.Base()) + "/" + a.Name), a.Data})
	}
	if at.data != nil {
		data, err = grown(at, data[markdown.Parse(data).Messages()[before].Start:], t)
	}
	return data, beside, err
}

// grown is the transcript that there is with more at its end.
func grown(at *target, tail []byte, t *markdown.Transcript) ([]byte, error) {
	data := bytes.Clone(at.data)
	if !bytes.HasSuffix(data, []byte{'\n'}) {
		data = append(data, '\n')
	}
	data = append(append(data, '\n'), tail...)
	d := markdown.Parse(data)
	count := len(d.Messages())
	if count != at.have+len(t.Messages) {
		// Something above is never closed, by hand: it would swallow what comes.
		return nil, vault.WithHint(fmt.Errorf("%q: %w: its last message is not closed", at.path, vault.ErrConflict),
			"close the fence or comment at the end of the transcript, then seal again")
	}
	was := markdown.ParseTranscript(at.data)
	now := markdown.Transcript{EndReason: t.EndReason, Messages: make([]markdown.Message, count), Private: t.Private,
		Tokens: addTokens(was.Tokens, t.Tokens), Cost: addCost(was.Cost, t.Cost), Context: t.Context}
	var err error
	if !t.Ended.IsZero() {
		err = d.SetMeta("ended", markdown.Time(t.Ended))
	}
	for _, fact := range now.Growing() {
		if err == nil {
			err = d.SetMeta(fact.Key, fact.Value)
		}
	}
	if err != nil {
		return data, nil // front matter that only its author can edit stays as it is
	}
	return d.Bytes(), nil
}
