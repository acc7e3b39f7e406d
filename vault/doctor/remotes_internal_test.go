package doctor

import "testing"

func TestPublicHost(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"https://github.com/ada/vault.git":           "github.com",
		"https://ada:secret@GitHub.com/ada/vault":    "github.com",
		"ssh://git@ssh.github.com:443/ada/vault.git": "ssh.github.com",
		"git@gitlab.com:ada/vault.git":               "gitlab.com",
		"codeberg.org:ada/vault":                     "codeberg.org",
		"https://bitbucket.org./ada/vault":           "bitbucket.org",
		"git@git.sr.ht:~ada/vault":                   "git.sr.ht",
		"git@notgithub.com:ada/vault":                "",
		"https://github.com.example.org/ada/vault":   "",
		"https://git.example.org/github.com/vault":   "",
		"/srv/github.com:vault":                      "",
		"../github.com/vault":                        "",
		"file:///srv/github.com/vault":               "",
		`C:\github.com\vault`:                        "",
		"https://%zz":                                "",
		"":                                           "",
	} {
		if got := publicHost(remote); got != want {
			t.Errorf("%q: %q, want %q", remote, got, want)
		}
	}
}
