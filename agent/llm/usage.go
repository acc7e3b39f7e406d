package llm

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A CostStatus says how far a cost can be trusted.
type CostStatus string

// The kinds of cost, from certain to guessed.
const (
	CostActual    CostStatus = "actual"    // the server said so
	CostFree      CostStatus = "free"      // the server is one of your own
	CostEstimated CostStatus = "estimated" // tokens times the price known to stet or to you
	CostAssumed   CostStatus = "assumed"   // the price is not known: a high one is taken
)

// Usage is what one call has used up.
type Usage struct {
	Input      int // tokens, those from and into the cache included
	Output     int
	CacheRead  int
	CacheWrite int
	Guessed    bool // the server sent no counts
	USD        float64
	Status     CostStatus
}

// A Price is dollars for a million tokens.
type Price struct {
	Input, Output         float64
	CacheRead, CacheWrite float64
	Status                CostStatus // CostFree, CostEstimated or CostAssumed
}

// ParsePrice reads "0.15/0.60": dollars for a million tokens in and out.
func ParsePrice(text string) (Price, error) {
	in, out, ok := strings.Cut(text, "/")
	input, err1 := strconv.ParseFloat(strings.TrimSpace(in), 64)
	output, err2 := strconv.ParseFloat(strings.TrimSpace(out), 64)
	if !ok || err1 != nil || err2 != nil || !(input >= 0 && input < 1e6) || !(output >= 0 && output < 1e6) {
		return Price{}, fmt.Errorf("%q is no price: %w: write dollars for a million tokens in and out, as 0.15/0.60", text, ErrSetup)
	}
	return Price{Input: input, Output: output, CacheRead: input, CacheWrite: input * 1.25, Status: CostEstimated}, nil
}

// assumedPrice is above that of every model in the table, so that a model that
// stet does not know cannot slip below the daily limit.
func assumedPrice() Price {
	return Price{Input: 15, Output: 75, CacheRead: 15, CacheWrite: 18.75, Status: CostAssumed}
}

// A listed price holds for the models whose name begins so.
type listed struct {
	prefix    string
	in, out   float64
	cacheRead float64 // part of in
}

// priceList was written down from the providers' public lists in 2025. Prices
// change: models.*.price overrides them, and a cost from here is "estimated".
func priceList() []listed {
	return []listed{
		{"gpt-4o-mini", 0.15, 0.60, 0.5}, {"gpt-4o", 2.50, 10, 0.5},
		{"gpt-4.1-nano", 0.10, 0.40, 0.25}, {"gpt-4.1-mini", 0.40, 1.60, 0.25}, {"gpt-4.1", 2, 8, 0.25},
		{"gpt-5-nano", 0.05, 0.40, 0.1}, {"gpt-5-mini", 0.25, 2, 0.1}, {"gpt-5-pro", 15, 120, 1}, {"gpt-5", 1.25, 10, 0.1},
		{"o3-mini", 1.10, 4.40, 0.5}, {"o3-pro", 20, 80, 1}, {"o3", 2, 8, 0.25}, {"o4-mini", 1.10, 4.40, 0.25},
		{"claude-3-haiku", 0.25, 1.25, 0.12}, {"claude-3-5-haiku", 0.80, 4, 0.1}, {"claude-haiku-4", 1, 5, 0.1},
		{"claude-3-5-sonnet", 3, 15, 0.1}, {"claude-3-7-sonnet", 3, 15, 0.1}, {"claude-sonnet-4", 3, 15, 0.1},
		{"claude-opus-4-5", 5, 25, 0.1}, {"claude-opus-4", 15, 75, 0.1}, {"claude-3-opus", 15, 75, 0.1},
	}
}

// listedWindow is the smallest window of the models in the list.
const listedWindow = 128_000

// priceOf looks a model up; OpenRouter writes the maker in front of the name.
func priceOf(model string) Price {
	if _, name, ok := strings.Cut(model, "/"); ok {
		model = name
	}
	list := priceList()
	slices.SortFunc(list, func(a, b listed) int { return cmp.Compare(len(b.prefix), len(a.prefix)) })
	for _, l := range list {
		if strings.HasPrefix(model, l.prefix) {
			return Price{Input: l.in, Output: l.out, CacheRead: l.in * l.cacheRead, CacheWrite: l.in * 1.25, Status: CostEstimated}
		}
	}
	return assumedPrice()
}

const million = 1e6

// charge puts a price on u unless the server has named the cost.
func (p Price) charge(u Usage) Usage {
	if u.Status == CostActual {
		return u
	}
	plain := max(u.Input-u.CacheRead-u.CacheWrite, 0)
	u.USD = (float64(plain)*p.Input + float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite + float64(u.Output)*p.Output) / million
	u.Status = p.Status
	return u
}

// worst is what a request can cost at most, as far as can be told before it.
func (p Price) worst(r Request) Usage {
	return p.charge(Usage{Input: r.Tokens(), Output: r.maxTokens(), Guessed: true})
}

// Tokens estimates the length of a request, rather too long.
func (r Request) Tokens() int {
	n := Tokens(r.System)
	for _, m := range r.Messages {
		n += Tokens(m.Text) + 8
		for _, c := range m.Calls {
			n += Tokens(c.Name) + Tokens(c.Arguments) + 8
		}
	}
	for _, t := range r.Tools {
		n += Tokens(t.Name) + Tokens(t.Description) + Tokens(string(t.Schema)) + 8
	}
	if r.Answer != nil {
		n += Tokens(string(r.Answer.JSON))
	}
	return n
}

// Tokens estimates how many tokens a text has: a quarter of its ASCII
// characters, and one for every other character, which is rather too many.
func Tokens(text string) int {
	ascii, others := 0, 0
	for _, r := range text {
		if r < 0x80 {
			ascii++
		} else {
			others++
		}
	}
	return (ascii+3)/4 + others
}

// counted makes counts plausible: a server may send none, or nonsense, and the
// daily limit must not be moved by it.
func counted(u Usage, req Request, reply Reply) Usage {
	const absurd = 1 << 30
	for _, n := range []int{u.Input, u.Output, u.CacheRead, u.CacheWrite} {
		if n < 0 || n > absurd {
			u = Usage{}
			break
		}
	}
	if u.Status == CostActual && !(u.USD >= 0 && u.USD < 1e6) {
		u.Status, u.USD = "", 0
	}
	if u.Input == 0 && u.Output == 0 {
		u.Guessed, u.Input, u.Output = true, req.Tokens(), Tokens(reply.Text)
		for _, c := range reply.Calls {
			u.Output += Tokens(c.Name) + Tokens(c.Arguments)
		}
	}
	return u
}
