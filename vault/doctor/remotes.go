package doctor

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"stet/vault"
)

// publicHosts are those where a repository is often meant for everybody.
func publicHosts() []string {
	return []string{"github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "sr.ht"}
}

// publicRemotes tells a person whose transcripts are in git that a remote may
// show them to everybody. Only the host's name is known: nobody is contacted, and
// no URL is repeated, since one may hold a password.
func publicRemotes(ctx context.Context, x *exam) error {
	type place struct{ remote, host string }
	var found []place
	met := map[place]bool{}
	for _, r := range x.v.Remotes() {
		for _, u := range r.URLs {
			if p := (place{r.Name, publicHost(u)}); p.host != "" && !met[p] {
				met[p] = true
				found = append(found, p)
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	n, err := committedTranscripts(ctx, x.v)
	if err != nil || n == 0 {
		return err
	}
	for _, p := range found {
		x.add(vault.Problem{ID: "public-remote", Advice: true, Text: fmt.Sprintf("the remote %q is at %s and may be public; committed transcripts that would be read there: %d", p.remote, p.host, n),
			Hint: `make sure that it is private; "stet config set sessions.track false" keeps further transcripts out of git`})
	}
	return nil
}

// publicHost is the host of public repositories that a remote's URL leads to, ""
// for any other.
func publicHost(remote string) string {
	host := ""
	if u, err := url.Parse(remote); err == nil && u.Host != "" {
		host = u.Hostname()
	} else if before, _, ok := strings.Cut(remote, ":"); ok && !strings.Contains(before, "/") {
		host = before[strings.LastIndexByte(before, '@')+1:] // the short form of ssh: user@host:path
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	for _, known := range publicHosts() {
		if host == known || strings.HasSuffix(host, "."+known) {
			return host
		}
	}
	return ""
}

// committedTranscripts counts those that HEAD holds, the archive's included.
func committedTranscripts(ctx context.Context, v *vault.Vault) (n int, err error) {
	view, err := v.History().View(ctx, "")
	if err != nil {
		return 0, err
	}
	for p, err := range view.Files() {
		if err != nil {
			return 0, err
		}
		live := vault.Path(strings.TrimPrefix(string(p), "archive/"))
		if vault.ClassOf(live) == vault.ClassSession && strings.HasSuffix(string(live), ".md") {
			n++
		}
	}
	return n, nil
}
