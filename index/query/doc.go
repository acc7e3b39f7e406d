// Package query parses queries and ranks documents: terms, phrases, prefixes,
// misspellings and filters, scored by BM25, messages also by the messages around them,
// and the line of a text to show. It reads postings from a [Source] and knows neither
// how they are stored nor which vault they are of.
//
// Two sources of the same files give the same documents, scores and order.
//
//	q := query.Parse("which database do we run?", now, lang)
//	_, best, total, err := query.Evaluate(ctx, source, files, &q, keep, 10)
package query
