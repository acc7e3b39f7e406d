package vault

import (
	"strings"
)

// A Class says what a file of the vault is, by its place alone.
type Class string

// The classes of DESIGN.md section 3.
const (
	ClassCore    Class = "core"    // MEMORY.md
	ClassProfile Class = "profile" // USER.md
	ClassMemory  Class = "memory"  // memories/**
	ClassSkill   Class = "skill"   // skills/**
	ClassSession Class = "session" // sessions/**
	ClassArchive Class = "archive" // archive/**
	ClassReport  Class = "report"  // logs/**
	ClassConfig  Class = "config"  // .stet/**
	ClassNote    Class = "note"    // any other file
)

// ClassOf classifies p. A search asks it of every file, so the folders that hold
// nearly all of them are compared as two words each.
func ClassOf(p Path) Class {
	switch s := string(p); {
	case len(s) >= 9 && s[:9] == "memories/":
		return ClassMemory
	case len(s) >= 9 && s[:9] == "sessions/":
		return ClassSession
	case strings.HasPrefix(s, "archive/"):
		return ClassArchive
	case strings.HasPrefix(s, "skills/"):
		return ClassSkill
	case strings.HasPrefix(s, "logs/"):
		return ClassReport
	case strings.HasPrefix(s, ".stet/"):
		return ClassConfig
	case s == "MEMORY.md":
		return ClassCore
	case s == "USER.md":
		return ClassProfile
	}
	return ClassNote
}

// tagged reports whether #words in files of the class are tags of their writer's: transcripts, skills and reports
// are full of "#" that means something else.
func (c Class) tagged() bool {
	return c != ClassSession && c != ClassSkill && c != ClassReport && c != ClassConfig
}

// reportsFolder is where the curator writes what it did, one folder a run.
const reportsFolder = "logs/curator"

// IsReport reports whether p is a report of the curator:
// logs/curator/**/REPORT.md.
func IsReport(p Path) bool {
	return strings.HasPrefix(string(p), reportsFolder+"/") && p.Base() == "REPORT.md"
}

func isUsage(p Path) bool { return p.Dir() == UsageFolder && strings.HasSuffix(string(p), ".json") }

// ScopeOf is the scope that p's folder stands for: "/" for memories/x.md,
// "/infra/db" for memories/infra/db/x.md and for archive/memories/infra/db/x.md,
// and the folder itself with a leading slash for any other file.
func ScopeOf(p Path) string {
	dir := strings.TrimPrefix(p.Dir(), "archive/")
	if dir == "." || dir == "memories" || dir == "archive" {
		return "/"
	}
	return "/" + strings.TrimPrefix(dir, "memories/")
}
