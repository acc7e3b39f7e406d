package imports

import "slices"

// branches names, for every line of a prompt that was taken back and what follows it, the uuid of that prompt: one from
// whose place the conversation went on another way. That stays so when an earlier prompt is taken back later.
func (c *claudeFile) branches() map[string]string {
	newest := map[string]int{} // of what follows a line, itself included, the last
	for i, n := range slices.Backward(c.nodes) {
		for at := n.UUID; at != "" && !n.IsSidechain; at = c.chain[at] {
			if _, ok := newest[at]; ok {
				break
			}
			newest[at] = i
		}
	}
	prompt := map[string]bool{}
	for _, n := range c.nodes {
		on, known := newest[c.chain[n.UUID]]
		prompt[n.UUID] = n.prompt && !n.IsSidechain && known && on != newest[n.UUID]
	}
	out := map[string]string{}
	for _, n := range c.nodes {
		c.climb(n.UUID, out, func(at string) (string, bool) { return at, prompt[at] })
	}
	return out
}

// climb finds for a line, and notes in known for every line on the way, what
// ends says of the first ancestor, itself included, of which it knows something;
// "" when there is none.
func (c *claudeFile) climb(uuid string, known map[string]string, ends func(string) (string, bool)) string {
	var way []string
	found := ""
	for at := uuid; at != ""; at = c.chain[at] {
		have, ok := known[at]
		if ok {
			found = have
			break
		}
		if name, ok := ends(at); ok {
			found = name
			way = append(way, at)
			break
		}
		known[at] = "" // a circle ends here
		way = append(way, at)
	}
	for _, at := range way {
		known[at] = found
	}
	return found
}
