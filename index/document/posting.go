package document

// A Posting is one document with a term.
type Posting struct {
	Doc          int32
	Freq, Length int32
	Number       uint32  // the source's own number of the document
	Positions    []int32 // ascending; filled in by places
}
