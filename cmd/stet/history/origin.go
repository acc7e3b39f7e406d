package history

import (
	"time"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault"
)

// An originView says where a version or a line comes from.
type originView struct {
	Rev     vault.Revision `json:"rev"`
	When    string         `json:"when"`
	at      time.Time
	By      string   `json:"by"`
	Email   string   `json:"email"`
	Kind    string   `json:"kind"` // person or agent
	Op      vault.Op `json:"op,omitempty"`
	Actor   string   `json:"actor,omitempty"`
	Door    string   `json:"door,omitempty"`
	Session string   `json:"session,omitempty"`
	Run     string   `json:"run,omitempty"`
	Rule    string   `json:"rule,omitempty"`
	Model   string   `json:"model,omitempty"`
	// Approved is the person who let an agent write it.
	Approved string `json:"approved_by,omitempty"`
	Subject  string `json:"subject"`
	Why      string `json:"why,omitempty"`
}

func viewOrigin(c vault.Commit) originView {
	return originView{
		Rev: c.Rev, When: agent.ViewCommit(c).When, at: c.When, By: c.Author, Email: c.AuthorEmail, Kind: kindOf(c), Op: c.Op,
		Actor: c.Trailers.Get("Stet-Actor"), Door: c.Trailers.Get("Stet-Door"), Session: c.Trailers.Get("Stet-Session"),
		Run: c.Trailers.Get("Stet-Run"), Rule: c.Trailers.Get("Stet-Rule"), Model: c.Trailers.Get("Stet-Model"), Approved: c.Trailers.Get("Stet-Approved-By"),
		Subject: c.Subject, Why: c.Body,
	}
}

// kindOf tells a person's commits, those made with plain git included, from an
// agent's.
func kindOf(c vault.Commit) string {
	if actor := c.Trailers.Get("Stet-Actor"); actor != "" && actor != vault.ActorUser {
		return "agent"
	}
	return "person"
}

// who names the person or agent.
func (o originView) who() string {
	if o.Kind == "agent" {
		return console.Line1(o.By) + " (" + console.Line1(o.Actor) + ")"
	}
	return console.Line1(o.By)
}

// writer is who with whether that is a person or an agent, and in which session.
func (o originView) writer() string {
	kind := o.Kind
	if o.Kind == "agent" && o.Actor != "" {
		kind = console.Line1(o.Actor)
	}
	if o.Session != "" {
		kind += ", session " + console.Line1(o.Session)
	}
	return console.Line1(o.By) + " (" + kind + ")"
}

// reasons are what led to the commit, as far as it says.
func (o originView) reasons() []string {
	var out []string
	for _, r := range [...]struct{ name, value string }{
		{"through", o.Door}, {"session", o.Session}, {"run", o.Run}, {"rule", o.Rule}, {"model", o.Model}, {"approved by", o.Approved}, {"why:", o.Why},
	} {
		if r.value != "" {
			out = append(out, r.name+" "+console.Line1(r.value))
		}
	}
	return out
}
