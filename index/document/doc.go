// Package document analyses files for the search index: words and names with their
// positions, stems by language, fields, and the record that ranking and filters need of
// a file without reading it. A file is one document, a transcript one document for each
// message.
//
// Analysis never fails: bytes that are no text yield no words. It writes nothing and
// keeps nothing.
//
//	lang, err := document.LanguageOf("german")
//	docs, record := document.NewAnalyzer(lang).File(data, file)
package document
