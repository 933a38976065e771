package state

import "github.com/sluicesql/sluice/engine/keyenc"

// KeyBatch is a batch of encoded keys with their hashes. The zero value is an empty batch; Reset keeps
// its memory.
type KeyBatch struct {
	buf    []byte
	ends   []uint32 // ends[i] is the offset just past key i
	hashes []uint64
}

// Reset empties the batch.
func (k *KeyBatch) Reset() { k.buf, k.ends, k.hashes = k.buf[:0], k.ends[:0], k.hashes[:0] }

// Add copies an encoded key to the end of the batch and hashes it.
func (k *KeyBatch) Add(key []byte) { k.AddHashed(key, keyenc.Hash(key)) }

// AddHashed is Add of a key whose hash is known.
func (k *KeyBatch) AddHashed(key []byte, h uint64) {
	k.buf = append(k.buf, key...)
	k.ends = append(k.ends, uint32(len(k.buf)))
	k.hashes = append(k.hashes, h)
}

// Len is the number of keys.
func (k *KeyBatch) Len() int { return len(k.ends) }

// Hash is keyenc.Hash of key i.
func (k *KeyBatch) Hash(i int) uint64 { return k.hashes[i] }

// Key is key i, borrowed until Reset.
func (k *KeyBatch) Key(i int) []byte {
	var start uint32
	if i > 0 {
		start = k.ends[i-1]
	}
	return k.buf[start:k.ends[i]:k.ends[i]]
}
