package markdown

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// lcs is the length of a longest common subsequence, by the quadratic table.
func lcs(a, b []string) int {
	prev := make([]int, len(b)+1)
	for i := range a {
		next := make([]int, len(b)+1)
		for j := range b {
			if a[i] == b[j] {
				next[j+1] = prev[j] + 1
			} else {
				next[j+1] = max(prev[j+1], next[j])
			}
		}
		prev = next
	}
	return prev[len(b)]
}

func randomText(r *rand.Rand, n, words int) []string {
	out := make([]string, r.IntN(n+1))
	for i := range out {
		out[i] = fmt.Sprintf("line %d\n", r.IntN(words))
	}
	return out
}

func TestDiffLinesIsShortestAndSound(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		a, b := randomText(r, 14, 1+r.IntN(6)), randomText(r, 14, 1+r.IntN(6))
		al, bl := splitLines([]byte(strings.Join(a, ""))), splitLines([]byte(strings.Join(b, "")))
		changed, i, j := 0, 0, 0
		for _, h := range diffLines(al, bl) {
			if h.a0-i != h.b0-j || !equalLines(al[i:h.a0], bl[j:h.b0]) {
				t.Fatalf("lines before %+v differ: %q %q", h, a, b)
			}
			if h.a0 == h.a1 && h.b1 < len(bl) && bytes.Equal(bl[h.b0], bl[h.b1]) {
				t.Fatalf("insertion %+v stands higher than git shows it: %q %q", h, a, b)
			}
			if h.b0 == h.b1 && h.a1 < len(al) && bytes.Equal(al[h.a0], al[h.a1]) {
				t.Fatalf("deletion %+v stands higher than git shows it: %q %q", h, a, b)
			}
			changed += h.a1 - h.a0 + h.b1 - h.b0
			i, j = h.a1, h.b1
		}
		if !equalLines(al[i:], bl[j:]) {
			t.Fatalf("rest differs: %q %q", a, b)
		}
		if want := len(a) + len(b) - 2*lcs(a, b); changed != want {
			t.Fatalf("%d lines changed, %d would do: %q %q", changed, want, a, b)
		}
	}
}

func TestDiffLinesOfShuffledFileIsFast(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	lines := make([][]byte, 20_000)
	for i := range lines {
		lines[i] = fmt.Appendf(nil, "%d\n", i)
	}
	other := make([][]byte, len(lines))
	for to, from := range r.Perm(len(lines)) {
		other[to] = lines[from]
	}
	i, j := 0, 0
	for _, h := range diffLines(lines, other) {
		if !equalLines(lines[i:h.a0], other[j:h.b0]) {
			t.Fatalf("lines before %+v differ", h)
		}
		i, j = h.a1, h.b1
	}
	if !equalLines(lines[i:], other[j:]) {
		t.Fatal("the rest differs")
	}
}

func TestDiffForm(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, a, b, want string }{
		{"equal", "a\n", "a\n", ""},
		{"new file", "", "a\nb\n", "--- x\n+++ y\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"emptied", "a\n", "", "--- x\n+++ y\n@@ -1 +0,0 @@\n-a\n"},
		{"final newline lost", "a\nb\n", "a\nb", "--- x\n+++ y\n@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n"},
		{"context without final newline", "a\nb", "c\nb", "--- x\n+++ y\n@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n"},
		{"binary", "a\x00", "b", "Binary files x and y differ\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := Diff([]byte(tc.a), []byte(tc.b), "x", "y", 3); got != tc.want {
				t.Errorf("Diff = %q, want %q", got, tc.want)
			}
		})
	}
}

// TestDiffAppliesWithGit lets git be the referee: what it reads out of our diff
// must be the new file.
func TestDiffAppliesWithGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("skip: needs git")
	}
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(5, 6))
	for i := range rounds {
		a := strings.Join(randomText(r, 30, 9), "") + []string{"", "tail", "\ttail"}[r.IntN(3)]
		b := strings.Join(randomText(r, 30, 9), "") + []string{"", "tail", "end"}[r.IntN(3)]
		if a == "" || b == "" || a == b {
			continue
		}
		file, patch := filepath.Join(dir, "f"), filepath.Join(dir, "p")
		diff := Diff([]byte(a), []byte(b), "a/f", "b/f", i%5)
		for name, data := range map[string]string{file: a, patch: diff} {
			if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), "git", "apply", "--unidiff-zero", "--whitespace=nowarn", patch)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git apply: %v: %s\n%s", err, out, diff)
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, []byte(b)) {
			t.Fatalf("git made %q of it, want %q (%v)", got, b, err)
		}
	}
}
