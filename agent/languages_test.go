package agent

import (
	"strings"
	"testing"

	"stet/index/document"
	"stet/vault/settings"
)

// The setting offers the languages that search knows, no more and no fewer.
func TestTheLanguagesOfTheSettingAreThoseOfSearch(t *testing.T) {
	t.Parallel()
	key, ok := settings.Find(string(settings.SearchLanguage))
	if !ok {
		t.Fatal("the key is gone")
	}
	for _, name := range document.Languages() {
		if _, err := key.Parse(name); err != nil {
			t.Errorf("search knows %s, the setting does not: %v", name, err)
		}
	}
	offered := strings.TrimPrefix(key.Type.String(), "word (")
	for _, name := range document.Languages() {
		offered = strings.Replace(offered, name, "", 1)
	}
	if strings.Trim(offered, ", )") != "" {
		t.Errorf("the setting offers more than search knows: %q", offered)
	}
}
