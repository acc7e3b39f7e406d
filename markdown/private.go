package markdown

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Private reports whether a file is to be kept from models and agents: its front matter has the
// key private, in any spelling, and does not say no. What cannot be read as front matter, or was
// meant to be some and has such a line, is private as well.
func (d *Document) Private() bool {
	if d.FrontMatterError() != nil {
		return true
	}
	keys := d.Keys()
	for _, key := range keys {
		if isPrivateKey(key) {
			v, _ := d.Meta(key)
			return !saysNo(v.Text())
		}
	}
	if len(keys) > 0 {
		return false
	}
	body := d.Body()
	head := string(body[:min(len(body), meantAsFrontMatter)])
	head = strings.TrimSpace(strings.Map(drawn, head))
	return strings.HasPrefix(head, "---") && HasPrivateLine(head)
}

// meantAsFrontMatter bounds in bytes how far a block reaches whose fences are no fences.
const meantAsFrontMatter = 4 << 10

// HasPrivateLine reports whether a line of a text gives the key private, in any spelling and indent, and
// does not say no: for front matter that cannot be read.
func HasPrivateLine(text string) bool {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok && isPrivateKey(key) && !saysNo(value) {
			return true
		}
	}
	return false
}

func isPrivateKey(key string) bool {
	return strings.EqualFold(strings.Trim(strings.Map(drawn, key), " \t\"'-?"), "private")
}

func saysNo(value string) bool {
	value, _, _ = strings.Cut(value, " #")
	switch strings.ToLower(strings.Trim(value, " \t\r\n\"'")) {
	case "false", "no", "off", "n", "0":
		return true
	}
	return false
}

// drawn is r, or -1 for a character that is drawn as nothing.
func drawn(r rune) rune {
	if r >= 0x80 && unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return -1
	}
	return r
}

// SkillPin is the line by which the front matter of a SKILL.md pins the skill, "" for none: stet-pinned, or the key of
// memories, in the metadata or at the top, with any value but a clear no.
func SkillPin(d *Document) string {
	meta, _ := d.Meta("metadata")
	texts := meta.Texts()
	pins := func(key string) bool {
		return strings.EqualFold(key, "stet-pinned") || strings.EqualFold(key, "pinned")
	}
	for _, key := range d.Keys() {
		if v, _ := d.Meta(key); pins(key) {
			texts[key] = v.Text()
		}
	}
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		if pins(key) && !saysNo(texts[key]) {
			return key + ": " + texts[key]
		}
	}
	return ""
}
