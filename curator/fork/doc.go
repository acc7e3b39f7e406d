// Package fork is what the curator and the process that it forks for a model have in common: the job that goes in as
// JSON, the calls that come out as JSON, and the desk on which a call means the same in both.
//
// The child works on a desk of its own and so can touch nothing. The parent believes nothing of it but which calls the
// model made: it makes them again on a desk of its own, and looks at what that holds then.
package fork

import (
	"context"
	"encoding/json"

	"stet/vault"
)

// Version is that of jobs and results. A child refuses a job of any other.
const Version = 1

// A Job is what a model is asked to do. Nothing private is in it.
type Job struct {
	Version  int            `json:"version"`
	Run      string         `json:"run"`  // id of the run
	Base     vault.Revision `json:"base"` // the commit that the skills are of
	Clusters []Cluster      `json:"clusters"`
	Skills   []Skill        `json:"skills"` // those of the clusters, by name
	Taken    []string       `json:"taken"`  // names that no new skill may have
	Bounds   Bounds         `json:"bounds"`
	// Memories says that each of Skills stands for a memory, which is all that it says.
	Memories bool `json:"memories,omitempty"`
}

// A Cluster is skills that could be merged.
type Cluster struct {
	Names []string `json:"names"` // sorted, two or more
	Why   string   `json:"why"`   // what they have in common
	// Refused is why the last umbrellas of these were not built.
	Refused []string `json:"refused,omitempty"`
	Note    string   `json:"note,omitempty"` // of a report: why they are still apart
}

// A Skill is a skill with all of its files.
type Skill struct {
	Name   string          `json:"name"`
	Folder vault.Path      `json:"folder"`
	Files  map[string]File `json:"files"` // by path as seen from the folder
}

// A File is one file of a skill.
type File struct {
	Data []byte `json:"data"`
	Exec bool   `json:"exec,omitempty"`
}

// Bounds end the work of a model. Zero is no bound but the ceilings: 9,999 rounds, and a day.
type Bounds struct {
	MaxTokens  int     `json:"max_tokens"`
	MaxRounds  int     `json:"max_rounds"`
	MaxUSD     float64 `json:"max_usd"`
	MaxMinutes int     `json:"max_minutes"`
}

// A Call is one call of the tool. Arguments are whole; what was no JSON is there as a text.
type Call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Error     string          `json:"error,omitempty"` // why it was refused
}

// NewCall is a call as a model wrote it.
func NewCall(name, arguments string) Call {
	raw := json.RawMessage(arguments)
	if !json.Valid(raw) {
		raw, _ = json.Marshal(arguments) // a string always can be
	}
	return Call{Name: name, Arguments: raw}
}

// How the work of a model ended.
const (
	Done      = "done"
	Limit     = "limit" // of the Bounds: what was done until then counts
	Failed    = "error"
	Cancelled = "cancelled"
)

// A Result is what a model did.
type Result struct {
	Model    string  `json:"model"`
	Provider string  `json:"provider"`
	Calls    []Call  `json:"calls"` // in order
	Final    string  `json:"final"` // what it said last
	Ended    string  `json:"ended"`
	Error    string  `json:"error,omitempty"`
	Rounds   int     `json:"rounds"` // requests
	Usage    Usage   `json:"usage"`
	Cost     float64 `json:"cost"` // in dollars
}

// Usage is the tokens of all requests together.
type Usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cache_read"`
	CacheWrite int `json:"cache_write"`
}

// A Runner has a model do a job. It returns in time whatever the model or its process does; with an error the result
// holds what is known of the work until then.
type Runner interface {
	Run(ctx context.Context, job Job) (Result, error)
}
