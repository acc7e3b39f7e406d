package archtest

import (
	"go/ast"
	"strings"
	"testing"
)

// The limits above which a file or function has lost its one subject.
const (
	maxFile     = 400 // lines
	maxLongFile = 600 // with a "Long:" line that says why, at the head
	maxFunction = 60
	maxPackage  = 40 // files, tests not counted
)

func TestFilesAndFunctionsStayShort(t *testing.T) {
	t.Parallel()
	m := load(t)
	files := map[string]int{}
	for _, s := range m.sources {
		if !s.test {
			files[s.pkg]++
		}
		limit := maxFile
		if s.test || reasonForLength(s.text) {
			limit = maxLongFile
		}
		if s.lines > limit {
			t.Errorf("%s has %d lines, the limit is %d", s.name, s.lines, limit)
		}
		if s.test {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			if n := m.fset.Position(f.End()).Line - m.fset.Position(f.Pos()).Line + 1; n > maxFunction {
				t.Errorf("%s: %s has %d lines, the limit is %d", m.at(f), f.Name.Name, n, maxFunction)
			}
		}
	}
	for pkg, n := range files {
		if n > maxPackage {
			t.Errorf("%s has %d files, the limit is %d", pkg, n, maxPackage)
		}
	}
}

func reasonForLength(text string) bool {
	head := strings.SplitN(text, "\n", 20)
	for _, line := range head[:min(len(head), 19)] {
		if strings.HasPrefix(line, "// Long: ") {
			return true
		}
	}
	return false
}
