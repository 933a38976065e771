package op

import (
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/state"
)

// keyBatch holds the encoded keys of a batch's rows.
type keyBatch struct {
	state.KeyBatch
	enc []byte
}

// fill replaces the keys by those of b's rows.
func (k *keyBatch) fill(b *changelog.Batch, key []keyenc.Column) {
	k.Reset()
	for i := range b.Len() {
		k.enc = keyenc.Append(k.enc[:0], b.Row(i), key)
		k.Add(k.enc)
	}
}
