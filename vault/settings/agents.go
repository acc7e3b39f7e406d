package settings

import "strconv"

// Agents is what may become of a key where the environment is an agent's.
type Agents string

// A key that costs, writes or publishes more with one value than with another has one of the last three.
const (
	Free    Agents = ""
	Lowers  Agents = "an agent's environment only lowers it" // false is lower than true
	Raises  Agents = "an agent's environment only raises it"
	Nothing Agents = "not in an agent's environment"
)

// lets reports whether a value of such an environment counts in place of another, both in canonical form.
func (a Agents) lets(value, other string) bool {
	order := func(s string) float64 {
		if s == "true" {
			return 1
		}
		f, _ := strconv.ParseFloat(s, 64) // 0 for false
		return f
	}
	switch a {
	case Lowers:
		return order(value) < order(other)
	case Raises:
		return order(value) > order(other)
	}
	return a == Free
}
