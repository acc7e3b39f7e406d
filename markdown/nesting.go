package markdown

import (
	"fmt"

	"github.com/yuin/goldmark/ast"
)

// maxDepth bounds how many lists and quotations stand inside each other. The
// reader goes through all that are open at every line and every marker: 2,500 of
// them in a file of 5 KB took 50 seconds. People do not go beyond ten.
const maxDepth = 64

// tooDeep reports whether a list or quotation within parent is not read as one.
func (f *findings) tooDeep(parent ast.Node, at int) bool {
	if _, item := parent.(*ast.List); item || nesting(parent) < maxDepth {
		return false
	}
	f.note(at, fmt.Sprintf("lists and quotations more than %d deep", maxDepth))
	return true
}

// nesting counts the lists and quotations that a node stands in, itself included.
func nesting(n ast.Node) int {
	depth := 0
	for ; n != nil; n = n.Parent() {
		switch n.(type) {
		case *ast.List, *ast.Blockquote:
			depth++
		}
	}
	return depth
}

// Unread is the line, from 1, of the first Markdown that is read as text because
// reading it would take too long, and what it is; 0 and "": there is none.
func (d *Document) Unread() (line int, what string) {
	u := d.outline().unread
	if u.why == "" {
		return 0, ""
	}
	return d.lineOf(u.at), u.why
}
