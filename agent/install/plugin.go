package install

import (
	"path/filepath"

	"stet/agent/clients"
)

// Plugin is Claude Code with the files of one of its plugins in the place of those of a project.
func Plugin() clients.Client {
	c, _ := clients.Find("claude-code")
	c.Title = "the plugin"
	c.Server.Project, c.Hooks.Project = ".mcp.json", "hooks/hooks.json"
	c.Allow, c.Skills = clients.Location{}, []clients.Location{{Project: "skills"}}
	c.OffIn = nil
	c.Then = []string{"claude --plugin-dir DIR tries it; a marketplace of yours can offer it"}
	return c
}

// Manifest is the file that makes a folder a plugin.
func Manifest(dir string) Target {
	about := "Memory in a git-backed vault: a brief at the start, recall while typing, capture at the end."
	text := jsonText(Map{{"name", server}, {"description", about}, {"license", "Apache-2.0"}}, "",
		jsonStyle{"  ", "\n", true, ""})
	return Target{Path: filepath.Join(dir, ".claude-plugin", "plugin.json"), Text: []byte(text + "\n")}
}
