package index

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"stet/vault"
)

// A counter counts how often the whole of a vault and parts of it were walked.
type counter struct {
	*folder
	whole, parts int
}

func (c *counter) Files(ctx context.Context, o vault.WalkOptions) ([]vault.File, error) {
	if o.Under == "" {
		c.whole++
	} else {
		c.parts++
	}
	return c.folder.Files(ctx, o)
}

// settle makes every folder's time older than the index, so that no tick of the
// clock is shared.
func (c *counter) settle(t *testing.T) {
	t.Helper()
	past := time.Now().Add(-time.Minute)
	for _, dir := range []string{"memories", "memories/a"} {
		if err := os.Chtimes(filepath.Join(c.dir, dir), past, past); err != nil {
			t.Fatal(err)
		}
	}
}

func nearby(t *testing.T, x *Index, text string) []vault.Path {
	t.Helper()
	out, err := x.Nearby(t.Context(), text, 10)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNearbyKnowsWhatCameWithoutWalkingTheVault(t *testing.T) {
	t.Parallel()
	src := &counter{folder: newFolder(t, map[string]string{
		"memories/a/one.md": "We use alpha.\n", "memories/two.md": "We use beta.\n", "notes/alpha.md": "alpha in a note\n",
		"memories/old.md": "---\nsuperseded_by: x\n---\nalpha as it was\n",
	})}
	x := open(t, src)
	if got := nearby(t, x, "alpha"); !slices.Equal(got, []vault.Path{"memories/a/one.md"}) {
		t.Errorf("without an index: %v", got)
	}
	src.settle(t)
	src.whole, src.parts = 0, 0
	if got := nearby(t, x, "alpha and beta"); len(got) != 2 || src.whole+src.parts > 0 {
		t.Errorf("%v after %d walks of the vault and %d of folders", got, src.whole, src.parts)
	}
	// Somebody's editor saves: the file is replaced, and another one is new.
	src.write(t, "memories/a/saved", "We use gamma.\n")
	if err := os.Rename(filepath.Join(src.dir, "memories/a/saved"), filepath.Join(src.dir, "memories/a/one.md")); err != nil {
		t.Fatal(err)
	}
	src.write(t, "memories/a/three.md", "We use gamma, too.\n")
	if got := nearby(t, x, "gamma"); len(got) != 2 || src.whole > 0 {
		t.Errorf("after an edit: %v after %d walks of the vault", got, src.whole)
	}
	// What replaced another one is gone again.
	src.write(t, "memories/four.md", "---\nid: 01kehh1ah8kbjhtjnrnx3kch7b\n---\nWe use delta.\n")
	src.write(t, "memories/five.md", "---\nsupersedes: 01kehh1ah8kbjhtjnrnx3kch7b\n---\nWe use epsilon.\n")
	if got := nearby(t, x, "delta"); len(got) != 0 {
		t.Errorf("replaced: %v", got)
	}
	src.remove(t, "memories/five.md")
	if got := nearby(t, x, "delta epsilon"); !slices.Equal(got, []vault.Path{"memories/four.md"}) {
		t.Errorf("no longer replaced: %v", got)
	}
	src.settle(t)
	src.parts = 0
	if got := nearby(t, open(t, src), "gamma"); len(got) != 2 || src.whole+src.parts > 0 {
		t.Errorf("afterwards: %v after %d walks of the vault and %d of folders", got, src.whole, src.parts)
	}
}

func TestNearbyTakesWordsAsTheyAreSpelt(t *testing.T) {
	t.Parallel()
	x := open(t, newFolder(t, map[string]string{"memories/one.md": "alphabet\n"}))
	paths(t, x, "alphabet")
	if got := nearby(t, x, "alphabte"); len(got) != 0 {
		t.Errorf("a misspelt word finds %v", got)
	}
}

// A large, mapped segment that somebody wrote is verified, whatever its size and time say.
func TestALargeSegmentThatWasWrittenIsVerifiedAgain(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 2000 {
		var words strings.Builder
		for j := range 80 {
			fmt.Fprintf(&words, "w%x ", (i*80+j)*2654435761%99991)
		}
		files[fmt.Sprintf("n%04d.md", i)] = words.String() + fmt.Sprintf("needle%d\n", i)
	}
	src := newFolder(t, files)
	paths(t, open(t, src), "needle7")
	spoiled := slices.MaxFunc(indexFiles(t, src), func(a, b string) int { return int(size(t, a) - size(t, b)) })
	if size(t, spoiled) < mapAbove {
		t.Fatalf("the largest segment has %d bytes, %d are wanted", size(t, spoiled), mapAbove)
	}
	data, err := os.ReadFile(spoiled)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(spoiled)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(spoiled, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(spoiled, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	res := ask(t, open(t, src), Query{Text: "needle7"})
	if got := hitPaths(res); !slices.Equal(got, []string{"n0007.md"}) || res.Rebuilt == "" {
		t.Errorf("after a flipped bit: %v, rebuilt %q", got, res.Rebuilt)
	}
}

func size(t *testing.T, file string) int64 {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestVocabularyCountsWhereWordsStand(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"memories/a/one.md":       "---\ncategories: [Red, red, blue]\n---\nThe boiler leaks.\n",
		"memories/a/two.md":       "---\ncategories: [blue]\n---\nBoilers and pumps.\n",
		"memories/b/c/pit.md":     "A pump in a pit.\n",
		"memories/top.md":         "the boiler at the top\n",
		"memories/mine.md":        "---\nprivate: true\n---\nMy boiler.\n",
		"memories/gone.md":        "---\nsuperseded_by: x\n---\nA boiler that was.\n",
		"archive/memories/old.md": "An old boiler.\n", "notes/boiler.md": "A boiler in a note.\n",
	}
	x := open(t, newFolder(t, files))
	if _, err := x.Vocabulary(t.Context(), []string{"boiler"}, nil, false); err == nil {
		t.Error("without an index there is an answer")
	}
	if _, err := x.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := x.Vocabulary(t.Context(), []string{"A boiler, the boilers; unheard-of -pump", ""}, []string{"pumps leak", "unheard"}, false)
	if err != nil {
		t.Fatal(err)
	}
	boiler := Usage{3, map[string]int{"/": 1, "/a": 2}, map[string]int{"red": 1, "blue": 2}}
	pump := Usage{2, map[string]int{"/a": 1, "/b/c": 1}, map[string]int{"blue": 1}}
	none := Usage{0, map[string]int{}, map[string]int{}}
	want := &Vocabulary{
		All:    Usage{4, map[string]int{"/": 1, "/a": 2, "/b/c": 1}, map[string]int{"red": 1, "blue": 2}},
		Tagged: map[string]map[string]int{"/": {}, "/a": {"red": 1, "blue": 2}, "/b/c": {}},
		Words:  [][]Word{{{"boiler", boiler}, {"unheard", none}, {"pump", pump}}, nil},
		Groups: []Usage{{3, map[string]int{"/a": 2, "/b/c": 1}, map[string]int{"red": 1, "blue": 2}}, none},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got, err = x.Vocabulary(t.Context(), []string{"boiler"}, nil, true); err != nil || got.All.Memories != 5 || got.Words[0][0].Scopes["/"] != 2 {
		t.Errorf("with private ones: %+v, %v", got, err)
	}
}

// What very many memories have costs no time, and tells nothing.
func TestVocabularyPassesOverWhatVeryManyHave(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range commonLeast + 1 {
		files[fmt.Sprintf("memories/a/%03d.md", i)] = "common\n"
	}
	files["memories/b/rare.md"] = "rare and common\n"
	x := open(t, newFolder(t, files))
	if _, err := x.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := x.Vocabulary(t.Context(), []string{"common rare"}, nil, false)
	if err != nil || got.Words[0][0].Memories != 0 || got.Words[0][1].Memories != 1 || got.All.Memories != commonLeast+2 {
		t.Errorf("got %+v, %v", got, err)
	}
}
