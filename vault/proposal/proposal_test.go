package proposal_test

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"stet/markdown"
	"stet/vault/proposal"
)

func roundTrip(t interface{ Fatalf(string, ...any) }, main []byte) {
	p := proposal.Proposal{Op: "update", Subject: "a <b> \u2028 \"c\": [d]", Files: []proposal.File{{Path: "memories/a.md", Was: "1"}, {Path: "b.md"}}}
	p.Files[1].SetData([]byte("x\xff\n"))
	data, err := proposal.Encode(p, main)
	if err != nil {
		t.Fatalf("encode %q: %v", main, err)
	}
	got, back, err := proposal.Decode(data)
	if err != nil || !bytes.Equal(back, main) || got.Subject != p.Subject || string(got.Files[1].Data()) != "x\xff\n" {
		t.Fatalf("%q came back as %q, %+v, %v", main, back, got, err)
	}
	doc := markdown.Parse(data)
	if _, has := doc.Meta("proposal"); doc.FrontMatterError() == nil && !has {
		t.Fatalf("%q: the line is no key of %q", main, data)
	}
	// A mark in front of the whole file is none of its text, behind our line it is.
	text := func(d *markdown.Document) []byte { return bytes.TrimLeft(d.Body(), "\ufeff") }
	if markdown.Parse(main).FrontMatterError() == nil && !bytes.Equal(text(doc), text(markdown.Parse(main))) {
		t.Fatalf("the text of %q is not that of %q", data, main)
	}
}

func TestWhatIsProposedComesBackByteForByte(t *testing.T) {
	t.Parallel()
	for _, main := range []string{"", "text", "text\r\n", "---\n", "---\nid: x\n", "---\nid: x\n---\ntext\n", "---\r\nid: x\r\n---\r\ntext", "\ufeff---\nid: x\n---\n",
		"---\n---\ntext\n", "---\na: [\n---\ntext\n", "---\nid: x\n...\ntext", "\n---\nid: x\n---\n", "---\r\n---\r\nx"} {
		roundTrip(t, []byte(main))
	}
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{"---", "---\n", "---\r\n", "...\n", "id: x\n", "a: [\n", "\n", "text", "\r\n", "\ufeff", "proposal: {}\n", "\xff"})).Draw(t, "lines")
		var main []byte
		for _, l := range lines {
			main = append(main, l...)
		}
		roundTrip(t, main)
	})
}

func TestWhatIsNoProposalIsRefused(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "---\n", "---\nid: x\n---\n", "---\nproposal: {\n---\n", "---\nproposal: {\"v\":2,\"op\":\"x\",\"files\":[{}]}\n---\n", "---\nproposal: {\"v\":1}\n---\n", "---\nproposal: {\"v\":1,\"op\":\"x\",\"files\":[{}],\"bare\":true}\n---"} {
		if _, _, err := proposal.Decode([]byte(data)); !errors.Is(err, proposal.ErrMalformed) {
			t.Errorf("%q: %v", data, err)
		}
	}
}

func TestTheSameProposalTwiceIsTheSame(t *testing.T) {
	t.Parallel()
	p := proposal.Proposal{Op: "remember", Files: []proposal.File{{Path: "memories/a.md"}}}
	key := func(path, text string) string {
		p.Files[0].Path = path
		return proposal.Key(p, []byte(text))
	}
	a := key("memories/a.md", "---\nid: x\ncreated: 2026-01-01\n---\nOne.\n")
	if b := key("memories/a-2.md", "---\nid: y\ncreated: 2026-02-02\n---\nOne.\n"); a != b {
		t.Errorf("%q and %q", a, b)
	}
	if b := key("memories/a.md", "---\nid: x\n---\nTwo.\n"); a == b {
		t.Errorf("another text is the same: %q", b)
	}
	p.Op = "update"
	if key("memories/a.md", "One.\n") == key("memories/b.md", "One.\n") {
		t.Error("another file is the same")
	}
}
