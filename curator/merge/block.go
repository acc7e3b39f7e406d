package merge

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"stet/markdown"
	"stet/templates"
)

// A Block is what a model says at the end that it did.
type Block struct {
	Consolidations []Consolidation `yaml:"consolidations"`
	Prunings       []Pruning       `yaml:"prunings"`
	Problem        string          `yaml:"-"` // why there is none that can be believed, "" where there is one
}

// A Consolidation says that one skill went into another.
type Consolidation struct {
	From   string `yaml:"from"`
	Into   string `yaml:"into"`
	Reason string `yaml:"reason"`
}

// A Pruning says that a skill was archived without a successor.
type Pruning struct {
	Name   string `yaml:"name"`
	Reason string `yaml:"reason"`
}

// maxBlock is more than a model needs to say about ten thousand skills, in bytes.
const maxBlock = 1 << 20

// ParseBlock reads the one fenced block of YAML in what a model says. Of two it believes neither.
func ParseBlock(final string) Block {
	var blocks []string
	var fence, kind string
	var text strings.Builder
	for line := range strings.Lines(final) {
		mark := markdown.FenceOf(strings.TrimRight(line, "\r\n"))
		switch {
		case fence == "" && mark != "":
			fence, kind = mark, strings.ToLower(strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), mark[:1])))
			text.Reset()
		case fence != "" && strings.HasPrefix(mark, fence):
			if fence = ""; kind == "yaml" || kind == "yml" {
				blocks = append(blocks, text.String())
			}
		case fence != "":
			text.WriteString(line)
		}
	}
	var out Block
	switch {
	case fence != "" && len(blocks) == 0:
		return Block{Problem: "the block at the end is not closed"}
	case len(blocks) == 0:
		return Block{Problem: "there is no block of YAML"}
	case len(blocks) > 1:
		return Block{Problem: fmt.Sprintf("there are %s of YAML", templates.Plural(len(blocks), "block"))}
	case len(blocks[0]) > maxBlock:
		return Block{Problem: "the block of YAML is too long"}
	}
	if err := yaml.Unmarshal([]byte(blocks[0]), &out); err != nil {
		return Block{Problem: "the block of YAML cannot be read: " + strings.ReplaceAll(err.Error(), "\n", " ")}
	}
	return out
}
