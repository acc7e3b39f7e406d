package document

// A Sieve tells most words of a text from those that are looked for by how they begin: the stem of a word begins as
// the word does. It takes letters and digits of ASCII alone; other words pass. It may be used by several once it is
// filled.
type Sieve struct {
	Humps  bool // let words in camel case pass, whose parts count
	begins [64]uint64
}

// sieved numbers the characters of words in ASCII from 1, capitals like small letters, and y like i, which it becomes
// in stems; 0 is for all others.
func sieved(c byte) uint8 {
	switch l := lowerASCII(c); {
	case l == 'y':
		return 'i' - 'a' + 1
	case 'a' <= l && l <= 'z':
		return l - 'a' + 1
	case '0' <= l && l <= '9':
		return l - '0' + 27
	}
	return 0
}

// Add lets words pass that begin like word, which is folded.
func (s *Sieve) Add(word string) {
	switch {
	case word == "": // as some languages stem what is no word
		for i := range s.begins {
			s.begins[i] = ^uint64(0)
		}
	case len(word) == 1:
		s.begins[sieved(word[0])] = ^uint64(0)
	default:
		s.begins[sieved(word[0])] |= 1 << sieved(word[1])
	}
}

// passes reports whether a word of ASCII, of which humps says whether it is in camel case, may be looked for.
func (s *Sieve) passes(word []byte, humps bool) bool {
	first, second := sieved(word[0]), uint8(0)
	if len(word) > 1 {
		second = sieved(word[1])
	}
	// A word that begins with a letter twice passes: Finnish stems write it once ("ffe" is "fe").
	return s.begins[first]>>second&1 == 1 || first == second || humps && s.Humps
}

// Tokenize is [Tokenize] but that the Term of a word that does not pass is "".
func (s *Sieve) Tokenize(text []byte, emit func(Token)) {
	t := tokenizer{text: text, emit: emit, sieve: s}
	t.run()
}
