package op

import (
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/state"
)

// keyBatch holds the encoded keys of a batch's rows.
type keyBatch struct {
	state.KeyBatch
	enc  []byte
	null []bool // of fillNulls: the key holds a NULL
}

// fill replaces the keys by those of b's rows.
func (k *keyBatch) fill(b *changelog.Batch, key []keyenc.Column) {
	k.Reset()
	for i := range b.Len() {
		k.enc = keyenc.Append(k.enc[:0], b.Row(i), key)
		k.Add(k.enc)
	}
}

// fillNulls is fill for rows whose keys may hold a NULL: those are told apart, and their keys are continued by
// the columns of scatter.
func (k *keyBatch) fillNulls(b *changelog.Batch, key, scatter []keyenc.Column) {
	k.Reset()
	k.null = k.null[:0]
	for i := range b.Len() {
		r := b.Row(i)
		k.enc = keyenc.Append(k.enc[:0], r, key)
		null := keyenc.HasNull(r, key)
		if null {
			k.enc = keyenc.Append(k.enc, r, scatter)
		}
		k.null = append(k.null, null)
		k.Add(k.enc)
	}
}
