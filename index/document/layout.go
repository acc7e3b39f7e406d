package document

// A Layout says which documents are messages of which record: documents are
// numbered through all records in order.
type Layout struct {
	Base  []int32 // record → its first document; one more at the end
	Owner []int32 // document → record
}

// NewLayout numbers the documents of records.
func NewLayout(recs []Record) *Layout {
	l := &Layout{Base: make([]int32, len(recs)+1)}
	for i := range recs {
		l.Base[i+1] = l.Base[i] + int32(recs[i].Docs)
	}
	l.Owner = make([]int32, l.Base[len(recs)])
	for i := range recs {
		for d := l.Base[i]; d < l.Base[i+1]; d++ {
			l.Owner[d] = int32(i)
		}
	}
	return l
}

// A FieldStat is the statistics of one field of the living documents.
type FieldStat struct {
	Docs   uint64
	AvgLen float64 // in tokens; 0 where length does not count
}

// FieldStats are the statistics of the living documents.
func FieldStats(recs []Record) (out [FieldCount]FieldStat) {
	var total, having [lengthFields]uint64
	docs := uint64(0)
	for i := range recs {
		if recs[i].Docs == 0 {
			continue
		}
		docs += uint64(recs[i].Docs)
		for s, n := range recs[i].Lens {
			total[s] += uint64(n)
			if n > 0 {
				having[s] += uint64(recs[i].Docs)
			}
		}
	}
	for f := range FieldCount {
		out[f].Docs = docs
		if s := lengthSlot(f); s >= 0 && having[s] > 0 {
			out[f].AvgLen = float64(total[s]) / float64(having[s])
		}
	}
	return out
}
