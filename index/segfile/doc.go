// Package segfile writes segments in the file format of Bluge (ice, version 1):
// the very bytes that ice.New writes of the same documents, which its tests
// hold it to. Nearly all of a full build was spent in ice.New: it keeps a map
// of terms for every field of every document, grows a bitmap by one document at
// a time and looks each term up four times. Here terms are numbered as they are
// met, and their postings are put in order by counting.
//
// A segment has one stored field, the name of each document, and indexed fields
// with or without positions. Merging, opening and searching segments is Bluge's
// business. The package knows nothing of files, vaults or analysis.
//
//	w := segfile.NewWriter()
//	w.Begin("memories/port.md")
//	w.Field("b", 3)
//	w.Term("port", 2, nil)
//	w.Term("stage", 1, nil)
//	data, err := w.Finish()
package segfile
