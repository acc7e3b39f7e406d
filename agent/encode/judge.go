package encode

import "slices"

func supersede(rule string, confidence float64) *Verdict {
	return &Verdict{Kind: Supersede, Rule: rule, Confidence: confidence}
}

func conflict(rule string, confidence float64) *Verdict {
	return &Verdict{Kind: Conflict, Rule: rule, Confidence: confidence}
}

// clauseVerdict says what a new clause is to a stored one: the first rule that
// knows decides.
func (r *reading) clauseVerdict(n, o *clause) *Verdict {
	if !n.asserted() || !o.asserted() || o.past() || o.limited() {
		return nil
	}
	if ch := n.change(); ch != nil {
		if v := r.changed(n, o, ch); v != nil {
			return v
		}
		if ch.ended {
			return nil
		}
	}
	if n.limited() || n.past() && n.change() == nil {
		return nil
	}
	if v := slots(n, o); v != nil {
		return v
	}
	if o.change() != nil {
		return nil
	}
	return contradiction(n, o)
}

// changed judges a clause that says itself that something is otherwise now.
func (r *reading) changed(n, o *clause, ch *change) *Verdict {
	_, denied := o.negated()
	if denied {
		return nil
	}
	os := o.current()
	if len(ch.from) > 0 {
		return r.changedFrom(n, o, os, ch)
	}
	ns := n.becomes(ch)
	if ns == nil || os == nil || ns.attribute != os.attribute || !differ(ns, os) {
		return nil
	}
	if ns.how == definite && !comparable(ns, os) {
		return nil
	}
	switch {
	case !sameOwner(ns.owner, os.owner), ns.purpose != os.purpose && ns.purpose != "" && os.purpose != "":
		return nil
	case ns.purpose != os.purpose:
		return conflict(ruleClass, 0.7)
	}
	return supersede(ruleChange, 0.9)
}

// changedFrom judges "from V1": a stored clause that says V1.
func (r *reading) changedFrom(n, o *clause, os *slot, ch *change) *Verdict {
	class, name, _, _ := find(products(), ch.from)
	rule := ruleChange
	if ch.ended {
		rule = ruleEnded
	}
	if os != nil && (os.product != "" && os.product == name || os.product == "" && sameText(os.value, ch.from)) {
		purpose := purpose(n.rest())
		switch {
		case class != "" && os.attribute != class && os.how != inUse:
			return nil
		case purpose != "" && os.purpose != "" && purpose != os.purpose && os.product != purpose:
			return nil
		case sameOwner(r.ownerIn(n, ch), os.owner), len(stems(ch.what)) > 0 && subset(stems(ch.what), stems(o.words)):
			return supersede(rule, 0.95)
		case class != "" && loose(r.ownerIn(n, ch)):
			return conflict(rule, 0.7)
		}
		return nil
	}
	// No slot is known: what changed must be named on both sides, and so must V1.
	what := stems(ch.what)
	if len(what) > 0 && subset(what, stems(o.words)) && len(stems(ch.from)) > 0 && subset(stems(ch.from), stems(o.rest())) {
		return supersede(rule, 0.9)
	}
	if ch.ended && len(stems(ch.from)) > 0 && sameOwner(ownerOf(n.subject), ownerOf(o.subject)) && o.verb >= 0 {
		said := stems(o.words[o.verb:])
		if want := stems(n.deniedWords(ch)); len(want) > 0 && subset(want, said) && len(said) <= len(want)+2 {
			return supersede(rule, 0.9)
		}
	}
	return nil
}

// deniedWords are the verb and the object of what has ended.
func (c *clause) deniedWords(ch *change) []word {
	at := slices.IndexFunc(c.words, func(w word) bool { return w.from == ch.from[0].from })
	if at > 0 && !isStop(c.words[at-1].fold) && !negator(c.words[at-1].fold) && c.words[at-1].fold != "longer" && c.words[at-1].fold != "no" {
		return slices.Concat(c.words[at-1:at], ch.from)
	}
	return ch.from
}

// ownerIn is whom a change is about. Where what ended is itself the subject
// ("PostgreSQL is gone"), the clause before in the same sentence says it.
func (r *reading) ownerIn(c *clause, ch *change) string {
	if len(c.subject) == 0 || len(ch.from) == 0 || c.subject[0].from != ch.from[0].from {
		return ownerOf(c.subject)
	}
	for _, d := range r.clauses {
		if d.sentence == c.sentence && d.place == 0 && d != c {
			return ownerOf(d.subject)
		}
	}
	return ""
}

func sameText(value, named []word) bool {
	a, b := stems(value), stems(named)
	return len(a) > 0 && len(b) > 0 && (subset(a, b) || subset(b, a))
}

// current is the slot of a clause, or what a change it told of made of one.
func (c *clause) current() *slot {
	if ch := c.change(); ch != nil {
		if ch.ended {
			return nil
		}
		if s := c.becomes(ch); s != nil {
			return s
		}
	}
	return c.slot()
}

// becomes is the slot whose new value a change says.
func (c *clause) becomes(ch *change) *slot {
	if len(ch.to) == 0 {
		return nil
	}
	owner := ownerOf(c.subject)
	if a, name, _, to := find(products(), ch.to); a != "" {
		return &slot{owner: owner, attribute: a, value: versioned(ch.to, to), product: name, purpose: purpose(c.rest()[min(1, len(c.rest())):]), how: inUse}
	}
	if a, _, from, to := find(attributes(), ch.what); a != "" {
		about := ownerOf(slices.Concat(ch.what[:from], ch.what[to:]))
		if about == "" && len(c.subject) > 0 && c.subject[0].from != ch.what[0].from {
			about = owner
		}
		return &slot{owner: about, attribute: a, value: ch.to, how: exclusive}
	}
	if s := c.moved(owner, ch.to); s != nil {
		return s
	}
	if len(stems(ch.what)) > 0 {
		return &slot{owner: ownerOf(ch.what), attribute: "is", value: ch.to, how: definite}
	}
	return nil
}

// moved is the home of a person who moved to a place, nil for anything else that
// did.
func (c *clause) moved(owner string, to []word) *slot {
	moves := slices.ContainsFunc(c.words, func(w word) bool {
		return slices.Contains([]string{"moved", "relocated", "umgezogen", "gezogen", "déménagé", "mudé", "mudó", "trasferito"}, w.fold)
	})
	person := owner == "user" || len(c.subject) == 1 && c.subject[0].raw != c.subject[0].fold && !isStop(c.subject[0].fold)
	if !moves || !person || to[0].raw == to[0].fold || isWhen(to[0]) {
		return nil
	}
	return &slot{owner: owner, attribute: "city", value: to, how: exclusive}
}

// slots judges two clauses that give a value to the same attribute of the same.
func slots(n, o *clause) *Verdict {
	ns, os := n.current(), o.current()
	if ns == nil || os == nil || ns.attribute != os.attribute || !sameOwner(ns.owner, os.owner) || !differ(ns, os) {
		return nil
	}
	if _, denied := n.negated(); denied {
		return nil
	}
	if _, denied := o.negated(); denied || ns.purpose != os.purpose {
		return nil
	}
	how := min(ns.how, os.how)
	switch {
	case how == exclusive && n.corrects():
		return supersede(ruleSlot, 0.9)
	case how == exclusive:
		return supersede(ruleSlot, Sure)
	case how == definite && !comparable(ns, os):
		return nil
	case how == definite && n.corrects():
		return supersede(ruleDefinite, 0.88)
	case how == definite:
		return conflict(ruleDefinite, 0.7)
	case n.corrects():
		return supersede(ruleClass, 0.88)
	}
	return conflict(ruleClass, 0.75)
}

// comparable reports whether two values are of one kind, so that one could stand
// in the place of the other.
func comparable(a, b *slot) bool {
	va, vb := values(a.value), values(b.value)
	if len(va) == 0 || len(vb) == 0 || kindOf(va[0]) != kindOf(vb[0]) {
		return false
	}
	return kindOf(va[0]) != "name" || preposition(a.value) == preposition(b.value)
}

func preposition(words []word) string {
	switch f := words[0].fold; f {
	case "in", "at", "on", "by", "from", "for", "with", "about", "near", "to", "of":
		return f
	}
	return ""
}
