package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// An edit is one way to save a file: it adds the text at its end. A pause is what the program
// does between two of its calls.
type edit struct {
	name string
	save func(file, text string, pause func()) error
}

func edits() []edit {
	long := func(pause func()) { pause(); time.Sleep(1200 * time.Millisecond) }
	return []edit{
		{"in place", func(file, text string, pause func()) error {
			return opened(file, os.O_RDWR, pause, func(f *os.File, was []byte) error {
				return inTwo(f, append(was, text...), pause)
			})
		}},
		{"truncate", func(file, text string, pause func()) error {
			was, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			return opened(file, os.O_RDWR|os.O_TRUNC, pause, func(f *os.File, _ []byte) error {
				return inTwo(f, append(was, text...), pause)
			})
		}},
		{"rename", func(file, text string, pause func()) error {
			was, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if err := os.WriteFile(file+".new", append(was, text...), 0o644); err != nil {
				return err
			}
			pause()
			return os.Rename(file+".new", file)
		}},
		{"append", func(file, text string, pause func()) error { return appended(file, pause, text) }},
		{"mmap", func(file, text string, pause func()) error { return mapped(file, text, pause) }},
		{"backup", func(file, text string, pause func()) error {
			was, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if err := os.Rename(file, file+"~"); err != nil {
				return err
			}
			pause()
			if err := os.WriteFile(file, append(was, text...), 0o644); err != nil {
				return err
			}
			return os.Remove(file + "~")
		}},
		{"two writers", func(file, text string, pause func()) error {
			half := strings.Index(text, " and")
			other := make(chan error, 1)
			go func() { other <- appended(file, pause, text[half:]) }()
			err := appended(file, pause, text[:half]+"\n")
			if err2 := <-other; err == nil {
				err = err2
			}
			return err
		}},
		{"slow", func(file, text string, pause func()) error {
			half := len(text) / 2
			return appended(file, func() { long(pause) }, text[:half], text[half:])
		}},
	}
}

func opened(file string, flag int, pause func(), with func(f *os.File, was []byte) error) error {
	f, err := os.OpenFile(file, flag, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	pause()
	was, err := os.ReadFile(fmt.Sprint("/proc/self/fd/", f.Fd()))
	if err != nil {
		return err
	}
	return with(f, was)
}

// inTwo writes a file from its beginning, as programs do whose buffer is smaller than it.
func inTwo(f *os.File, data []byte, pause func()) error {
	half := len(data) / 2
	if _, err := f.WriteAt(data[:half], 0); err != nil {
		return err
	}
	pause()
	_, err := f.WriteAt(data[half:], int64(half))
	return err
}

func appended(file string, pause func(), texts ...string) error {
	return opened(file, os.O_RDWR|os.O_APPEND, pause, func(f *os.File, _ []byte) error {
		for i, text := range texts {
			if i > 0 {
				pause()
			}
			if _, err := f.WriteString(text); err != nil {
				return err
			}
		}
		return nil
	})
}

func mapped(file, text string, pause func()) error {
	var view []byte
	size := 0
	err := opened(file, os.O_RDWR, pause, func(f *os.File, was []byte) error {
		size = len(was)
		if err := f.Truncate(int64(size + len(text))); err != nil {
			return err
		}
		var err error
		const both = syscall.PROT_READ | syscall.PROT_WRITE
		view, err = syscall.Mmap(int(f.Fd()), 0, size+len(text), both, syscall.MAP_SHARED)
		return err
	})
	if err != nil {
		return err
	}
	pause() // the file is closed and still written to
	copy(view[size:], text)
	return syscall.Munmap(view)
}

// TestNoEditIsLostBesideATightLoopOfUpdates: what a person saved, in any way that programs save,
// stands in the file, in the history or in lost/ afterwards.
func TestNoEditIsLostBesideATightLoopOfUpdates(t *testing.T) {
	t.Parallel()
	rounds, each := 20, 250
	if os.Getenv("STET_FULL") == "" {
		rounds, each = 1, 24
		t.Logf("%d edits (STET_FULL=1 makes 5,000)", rounds*each)
	}
	home := t.TempDir()
	var sum edited
	for round := range rounds {
		dir := filepath.Join(home, fmt.Sprint(round))
		for _, args := range [][]string{{"init", dir}, {"remember", "The gate is green.", "--title", "Gate"}} {
			if out, code := child(t, home, dir, "", args...); code != 0 {
				t.Fatalf("%q: exit %d\n%s", args, code, out)
			}
		}
		sum.round(t, home, dir, round, each)
	}
	t.Logf("%d edits beside %d updates: %d in the file, %d in the history alone, %d kept in lost/, %d lost", sum.made,
		sum.updates.Load(), sum.inFile, sum.inHistory, sum.kept, sum.lost)
	if sum.updates.Load() == 0 {
		t.Error("there was no update")
	}
}

type edited struct {
	made, inFile, inHistory, kept, lost int
	updates                             atomic.Int64
}

func (e *edited) round(t *testing.T, home, dir string, round, each int) {
	file := filepath.Join(dir, "memories", "gate.md")
	var done atomic.Bool
	var loop sync.WaitGroup
	loop.Go(func() {
		for i := 0; !done.Load(); i++ {
			out, code := child(t, home, dir, "", "update", "gate", "--append", fmt.Sprintf("Beat %d.", i))
			if code == 0 {
				e.updates.Add(1)
			} else if code != 4 && code != 5 { // the file was away, or changed without end
				t.Errorf("update: exit %d\n%s", code, out)
			}
		}
	})
	random := rand.New(rand.NewPCG(uint64(round), 27))
	var tokens []string
	ways := edits()
	for i := range each {
		way := ways[i%len(ways)]
		if way.name == "slow" && i%5 > 0 && each > 30 {
			way = ways[i%7]
		}
		token := fmt.Sprintf("edit-%d-%d-%s.", round, i, strings.ReplaceAll(way.name, " ", "-"))
		pause := func() { time.Sleep(time.Duration(random.IntN(8)) * time.Millisecond) }
		if way.name == "two writers" {
			pause = func() { time.Sleep(3 * time.Millisecond) } // a random source is for one
		}
		if err := way.save(file, "\n"+token+"a and "+token+"b\n", pause); err != nil {
			t.Errorf("%s: %v", token, err)
			continue
		}
		tokens = append(tokens, token+"a", token+"b")
		time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
	}
	done.Store(true)
	loop.Wait()
	for _, args := range [][]string{{"adopt"}, {"status"}, {"adopt"}} {
		if out, code := child(t, home, dir, "", args...); code != 0 {
			t.Errorf("%q: exit %d\n%s", args, code, out)
		}
	}
	e.count(t, dir, file, tokens)
}

func (e *edited) count(t *testing.T, dir, file string, tokens []string) {
	now, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
	}
	history, err := gitIn(dir, "log", "-p", "-m", "--format=%H", "--no-renames", "--text")
	if err != nil {
		t.Error(err)
	}
	var lost []byte
	names, _ := filepath.Glob(filepath.Join(dir, ".git", "stet", "*", "lost", "*"))
	for _, name := range slices.Sorted(slices.Values(names)) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		}
		lost = append(lost, data...)
	}
	for _, token := range tokens {
		text := []byte(token)
		e.made++
		switch {
		case bytes.Contains(now, text):
			e.inFile++
		case bytes.Contains(history, text):
			e.inHistory++
		case bytes.Contains(lost, text):
			e.kept++
			t.Logf("%s is kept in lost/", token)
		default:
			e.lost++
			t.Errorf("%s is lost", token)
		}
	}
}
