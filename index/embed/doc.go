// Package embed finds texts by what they mean instead of by their words: it
// asks an endpoint of the person's own choice for vectors, keeps them in a
// cache, and joins the ranking by meaning with one by words.
//
// It promises that what an endpoint answers is used only when it is whole: a
// vector for every text, all of one length, every number finite. It promises
// that a damaged cache costs what was damaged, which is asked for again, and
// never a wrong vector. It logs nothing, and no error holds a key or an answer.
//
//	c, err := embed.NewClient(embed.Options{BaseURL: "http://localhost:11434/v1", Model: "nomic-embed-text"})
//	vectors, err := embed.Vectors(ctx, c, []string{"which database do we run?"})
package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
)

// An Embedder turns texts into vectors. It is safe for concurrent use.
type Embedder interface {
	// Embed returns one vector for each text, in their order. What it returns
	// is not trusted: see [Vectors].
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Model names what made the vectors; those of two models are never compared.
	Model() string
}

// ErrAbsurd reports an answer that cannot be vectors of the texts.
var ErrAbsurd = errors.New("the answer of the embedding endpoint makes no sense")

// maxDims is more than any model has, and bounds what a cache may claim.
const maxDims = 1 << 14

// Vectors asks e and checks the answer; the vectors have length one, so that
// the cosine of two of them is [Dot]. It fails with [ErrAbsurd] or what e fails
// with.
func Vectors(ctx context.Context, e Embedder, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	out, err := e.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(out) != len(texts) {
		return nil, fmt.Errorf("texts and vectors are not as many, %d and %d: %w", len(texts), len(out), ErrAbsurd)
	}
	for i, v := range out {
		if len(v) == 0 || len(v) > maxDims || len(v) != len(out[0]) {
			return nil, fmt.Errorf("the vectors have lengths %d and %d: %w", len(out[0]), len(v), ErrAbsurd)
		}
		unit, ok := normal(v)
		if !ok {
			return nil, fmt.Errorf("a vector without a direction: %w", ErrAbsurd)
		}
		out[i] = unit
	}
	return out, nil
}

// Willing is [Vectors] of those of the texts that e takes: where it refuses them
// together they are asked for one by one, and one that it still refuses once more by
// its first few bytes. What is refused then has no vector. It fails with [ErrRefused]
// where e takes none of several.
func Willing(ctx context.Context, e Embedder, texts []string, few int) ([][]float32, error) {
	out, err := Vectors(ctx, e, texts)
	if !errors.Is(err, ErrRefused) {
		return out, err
	}
	out, refused := make([][]float32, len(texts)), err
	taken := 0
	for i, text := range texts {
		one, err := Vectors(ctx, e, []string{text})
		if errors.Is(err, ErrRefused) && len(text) > few {
			one, err = Vectors(ctx, e, []string{strings.ToValidUTF8(text[:few], "")})
		}
		switch {
		case errors.Is(err, ErrRefused):
			continue
		case err != nil:
			return nil, err
		}
		out[i] = one[0]
		taken++
	}
	if taken == 0 && len(texts) > 1 {
		return nil, refused
	}
	return out, nil
}

// normal is v with length one; false where there is no such vector.
func normal(v []float32) ([]float32, bool) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	if !(length > 0) || math.IsInf(length, 0) { // NaN is not above 0
		return nil, false
	}
	unit := make([]float32, len(v))
	for i, x := range v {
		unit[i] = float32(float64(x) / length)
	}
	return unit, true
}

// Dot is the cosine of two vectors of length one, 0 when they cannot be
// compared.
func Dot(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
