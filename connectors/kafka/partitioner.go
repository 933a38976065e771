package kafka

import "encoding/binary"

// murmur2 is the hash by which Java's producer places keys.
func murmur2(b []byte) uint32 {
	const m = 0x5bd1e995
	h := uint32(0x9747b28c) ^ uint32(len(b))
	for len(b) >= 4 {
		k := binary.LittleEndian.Uint32(b) * m
		h = h*m ^ (k^k>>24)*m
		b = b[4:]
	}
	switch len(b) {
	case 3:
		h ^= uint32(b[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(b[1]) << 8
		fallthrough
	case 1:
		h = (h ^ uint32(b[0])) * m
	}
	h = (h ^ h>>13) * m
	return h ^ h>>15
}

// keyPartition is the partition of a key among n, as Java's producer has it.
func keyPartition(key []byte, n int) int { return int(murmur2(key)&0x7fffffff) % n }
