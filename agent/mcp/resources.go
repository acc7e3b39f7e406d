package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"stet/agent"
	"stet/agent/snapshot"
	"stet/vault"
)

// The resources. Those of memories and skills are templates; skills are listed beside the fixed ones, and
// memories, of which there may be a hundred thousand, are completed.
const (
	profileURI = "stet://profile"
	coreURI    = "stet://core"
	recentURI  = "stet://recent"
	memoryURI  = "stet://memory/"
	skillURI   = "stet://skill/"

	markdownType = "text/markdown"
	pageSize     = 50     // resources of one page
	maxShown     = 30_000 // characters of one resource
	recentCount  = 20
	recentText   = 500 // characters of one of them
	maxComplete  = 100 // values, as the protocol says
)

func fixed() []*mcp.Resource {
	of := func(uri, name, title, about string) *mcp.Resource {
		return &mcp.Resource{URI: uri, Name: name, Title: title, Description: about, MIMEType: markdownType}
	}
	return []*mcp.Resource{
		of(coreURI, "core", "MEMORY.md", "what every session must know"),
		of(profileURI, "profile", "USER.md", "who the user is"),
		of(recentURI, "recent", "Recent memories", "what was written last"),
	}
}

func (s *server) addResources(srv *mcp.Server) {
	for _, r := range fixed() {
		srv.AddResource(r, s.readResource)
	}
	srv.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: memoryURI + "{id}", Name: "memory", Title: "A memory",
		Description: "one memory in full", MIMEType: markdownType}, s.readResource)
	srv.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: skillURI + "{name}", Name: "skill", Title: "A skill",
		Description: "the SKILL.md of a skill", MIMEType: markdownType}, s.readResource)
}

// listResources is a page of the fixed resources and the skills. A cursor is the last address of a page.
func (s *server) listResources(ctx context.Context, req mcp.Request, p *mcp.ListResourcesParams,
) (*mcp.ListResourcesResult, error) {
	all := fixed()
	err := s.with(ctx, clientOf(req), nil, func(ctx context.Context, a *agent.App) error {
		list, err := a.Skills().List(ctx, false)
		if err != nil {
			return err
		}
		for _, one := range list.Skills {
			all = append(all, &mcp.Resource{URI: skillURI + url.PathEscape(one.Name), Name: snapshot.Clean(one.Name),
				Description: cut(snapshot.Clean(one.Description), 300), MIMEType: markdownType})
		}
		return nil
	})
	if err != nil && !errors.Is(err, vault.ErrNotVault) {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *mcp.Resource) int { return cmp.Compare(a.URI, b.URI) })
	if p != nil && p.Cursor != "" {
		if !strings.HasPrefix(p.Cursor, "stet://") {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the cursor is none of this server's"}
		}
		all = slices.DeleteFunc(all, func(r *mcp.Resource) bool { return r.URI <= p.Cursor })
	}
	out := &mcp.ListResourcesResult{Resources: all}
	if len(all) > pageSize {
		out.Resources, out.NextCursor = all[:pageSize], all[pageSize-1].URI
	}
	cacheable(ctx, req, &out.Cacheable)
	return out, nil
}

// clientOf is the client that asks.
func clientOf(req mcp.Request) *mcp.Implementation {
	if r, ok := req.(interface{ ClientInfo() *mcp.Implementation }); ok {
		return r.ClientInfo()
	}
	return nil
}

// readResource is one resource as Markdown, fenced as stored data.
func (s *server) readResource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri, text := req.Params.URI, ""
	err := s.with(ctx, req.ClientInfo(), nil, func(ctx context.Context, a *agent.App) (err error) {
		text, err = resource(ctx, a, uri)
		text = a.Shown(text)
		return err
	})
	switch err = agent.Told(err); {
	case errors.Is(err, vault.ErrNotFound), errors.Is(err, agent.ErrUsage):
		return nil, mcp.ResourceNotFoundError(uri)
	case err != nil:
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: markdownType,
		Text: "<stet-data>\n" + cut(text, maxShown) + "\n</stet-data>\n"}}}, nil
}

func resource(ctx context.Context, a *agent.App, uri string) (string, error) {
	switch uri {
	case profileURI:
		return notebook(ctx, a.Notebook(vault.ClassProfile))
	case coreURI:
		return notebook(ctx, a.Notebook(vault.ClassCore))
	case recentURI:
		return recent(ctx, a)
	}
	id, isMemory := strings.CutPrefix(uri, memoryURI)
	name, isSkill := strings.CutPrefix(uri, skillURI)
	switch {
	case isMemory:
		return memory(ctx, a, id)
	case isSkill:
		name, err := url.PathUnescape(name)
		if err != nil || strings.Contains(name, "/") {
			return "", vault.ErrNotFound
		}
		res, err := a.Skills().View(ctx, name, "")
		if err != nil {
			return "", err
		}
		return labelled(res.Label, res.Text), nil
	}
	return "", vault.ErrNotFound
}

func notebook(ctx context.Context, n agent.Notebook) (string, error) {
	page, err := n.Show(ctx, true)
	if err != nil {
		return "", err
	}
	lines := []string{"# " + string(page.Path)}
	for _, e := range page.Entries {
		lines = append(lines, "* "+strings.ReplaceAll(labelled(e.Label, e.Text), "\n", "\n  "))
	}
	return strings.Join(lines, "\n"), nil
}

// recent are the memories that were written last.
func recent(ctx context.Context, a *agent.App) (string, error) {
	list, err := a.Memories().List(ctx, agent.ListOptions{
		Filter: vault.Filter{Sort: "updated", Limit: recentCount}})
	if err != nil {
		return "", err
	}
	lines := []string{"# Recent memories"}
	for _, m := range list.Memories {
		at := string(m.Path)
		if m.ID != "" {
			at = memoryURI + m.ID
		}
		text := strings.Join(strings.Fields(string(m.Stored().Body)), " ")
		lines = append(lines, fmt.Sprintf("* %s %s: %s", cmp.Or(m.Updated, m.Created), at,
			cut(labelled(m.Label, text), recentText)))
	}
	return strings.Join(lines, "\n"), nil
}

// memory is the memory with that id; a path, a title or a part of an id is none.
func memory(ctx context.Context, a *agent.App, id string) (string, error) {
	res, err := a.Memories().Show(ctx, agent.ShowOptions{Refs: []string{id}})
	if err != nil {
		return "", err
	}
	m := res.Memories[0]
	if m.ID == "" || m.ID != id {
		return "", vault.ErrNotFound
	}
	return labelled(m.Label, strings.TrimSpace(*m.Body)), nil
}

// labelled is a stored text as a model may see it, with who wrote it if that was not the user.
func labelled(l agent.Label, text string) string {
	text = snapshot.Clean(text)
	if said := l.String(); said != "" {
		text = "[" + snapshot.Clean(said) + "] " + text
	}
	return text
}

// complete offers the ids of memories and the names of skills that begin as asked.
func (s *server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	var values []string
	err := s.with(ctx, req.ClientInfo(), nil, func(ctx context.Context, a *agent.App) error {
		switch req.Params.Ref.URI {
		case memoryURI + "{id}":
			list, err := a.Memories().List(ctx, agent.ListOptions{})
			if err != nil {
				return err
			}
			for _, m := range list.Memories {
				values = append(values, m.ID)
			}
		case skillURI + "{name}":
			list, err := a.Skills().List(ctx, false)
			if err != nil {
				return err
			}
			for _, one := range list.Skills {
				values = append(values, one.Name)
			}
		default:
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is nothing to complete for that"}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	values = slices.DeleteFunc(values, func(v string) bool {
		return v == "" || !strings.HasPrefix(v, req.Params.Argument.Value)
	})
	out := &mcp.CompleteResult{}
	d := &out.Completion
	d.Total, d.HasMore = len(values), len(values) > maxComplete
	d.Values = append([]string{}, values[:min(len(values), maxComplete)]...)
	return out, nil
}

// cut is text with at most n characters, the last one an ellipsis where it was longer.
func cut(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}
