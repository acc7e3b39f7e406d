package index

import (
	"maps"
	"testing"
)

func TestHavingTellsAgentsNothingOfPrivateFiles(t *testing.T) {
	t.Parallel()
	src := newFolder(t, map[string]string{
		"memories/one.md": "We use alpha.\n", "memories/two.md": "---\nprivate: true\n---\nalpha zebu\n",
		"skills/s/SKILL.md": "---\nprivate: true\n---\nalpha\n", "skills/s/more.md": "zebu\n",
	})
	for public, want := range map[bool]map[string]int{false: {"alpha": 3, "zebu": 2}, true: {"alpha": 1}} {
		x := open(t, src)
		x.o.Public = public
		if _, err := x.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, files, err := x.Having(t.Context(), []string{"alpha", "zebu"})
		maps.DeleteFunc(got, func(_ string, n int) bool { return n == 0 })
		if all := map[bool]int{false: 4, true: 1}[public]; err != nil || files != all || !maps.Equal(got, want) {
			t.Errorf("public %t: %v of %d files, %v; want %v of %d", public, got, files, err, want, all)
		}
	}
}
