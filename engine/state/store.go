package state

import (
	"errors"
	"io"
	iofs "io/fs"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/internal/fault"
)

// Options says where a store lives and what it may use.
type Options struct {
	// Dir is the state directory; it is created when missing. Empty: everything stays in memory and ends
	// with the process.
	Dir string
	// Shards is the number of shards, 1 to keyenc.KeyGroups. It may differ from that of the last run. 0 leaves
	// the store undivided: what it holds can be looked at and edited as a whole, until Divide.
	Shards int
	// Stages is the number of sets of shards, each with tables of its own: one for every stage of a job whose
	// shards are goroutines of their own. 0 is 1.
	Stages int
	// Budget is the memory in bytes that the store may use; 0 is unlimited. See the package comment for
	// what it covers. A store in memory only has no budget.
	Budget int64
	// Logf receives what an operator of the process may want to know; nil drops it.
	Logf func(format string, args ...any)
	// FS is the file system; nil is the operating system's.
	FS FS
	// ReadOnly opens a directory that exists, a savepoint too, and changes nothing in it.
	ReadOnly bool
	// MustExist refuses to make a new state directory.
	MustExist bool
}

// FS is a file system, as in Pebble; tests put ones that lose or refuse writes in its place.
type FS = vfs.FS

// DefaultFS is the operating system's file system.
var DefaultFS FS = vfs.Default

// Store is a state directory opened for one process. Its methods may be called from any goroutine.
type Store struct {
	opts       Options
	fs         FS
	lock       io.Closer
	marked     bool       // the file RUNNING is this store's
	db         *pebble.DB // nil: memory only
	pebbleOpts *pebble.Options
	shards     []*Shard // by stage, then number

	committing  sync.Mutex
	ingests     int
	ingestFrom  int // ingestRows; tests have less
	sorter      sorter
	compactions *patience
	cold        atomic.Int64 // key groups of tables of which some is not in memory

	hotBudget             int64        // for all shards together
	memory, held, waiting atomic.Int64 // sums of the shards' used
	dirty                 atomic.Int64

	restored map[uint16]int64 // rows that were on disk at Open, by table; constant

	scratch scratchDir

	mu    sync.Mutex
	cut   []byte
	meta  map[string][]byte // memory only
	cause error             // the first failure; nothing works after it

	commits, rowsWritten, spilled atomic.Int64
}

// Open opens or creates the state directory and locks it against other processes. A directory that a
// newer or unknown version wrote is refused by name.
func Open(o Options) (*Store, error) {
	if o.Budget < 0 || o.Dir == "" {
		o.Budget = 0
	}
	s := &Store{opts: o, fs: o.FS, meta: map[string][]byte{}, compactions: newPatience(), ingestFrom: ingestRows}
	if s.fs == nil || o.Dir == "" {
		s.fs = vfs.Default
	}
	if o.ReadOnly {
		s.fs = lockless{s.fs}
	}
	cache, memtable, _ := shares(o.Budget)
	s.pebbleOpts = s.pebbleOptions(cache, memtable)
	if o.Dir != "" {
		if err := s.open(); err != nil {
			err = s.fault(err)
			_ = s.release()
			return nil, err
		}
	}
	if o.Shards != 0 {
		if err := s.Divide(o.Shards, o.Stages); err != nil {
			_ = s.release()
			return nil, err
		}
	}
	return s, nil
}

// Divide makes the shards of an undivided store. Stages may be 0, which is 1.
func (s *Store) Divide(shards, stages int) error {
	if shards < 1 || shards > keyenc.KeyGroups {
		return fault.Errorf(fault.Internal, "state: %d shards; the parallelism is 1 to %d", shards, keyenc.KeyGroups)
	}
	stages = max(stages, 1)
	if stages > maxStages {
		return fault.Errorf(fault.JobLimit, "state: %d stages; there may be %d", stages, maxStages).Fix("divide the query: write a part of it to a table of its own, in another job")
	}
	s.opts.Shards, s.opts.Stages = shards, stages
	_, _, hot := shares(s.opts.Budget)
	s.hotBudget = hot
	for i := range stages * shards {
		s.shards = append(s.shards, newShard(s, i/shards, i%shards, hot/int64(stages*shards)))
	}
	if s.db == nil {
		return nil
	}
	if err := s.readCounts(); err != nil {
		return s.fault(err)
	}
	if err := s.beginWarm(); err != nil {
		return s.fault(err)
	}
	return s.failed()
}

func (s *Store) open() error {
	if err := s.openDir(); err != nil {
		return err
	}
	if !s.opts.ReadOnly {
		if err := s.sealLog(); err != nil {
			return err
		}
	}
	db, err := pebble.Open(s.fs.PathJoin(s.opts.Dir, dbDir), s.pebbleOpts)
	if err != nil {
		return lossOf(err)
	}
	s.db = db
	if s.cut, err = s.get(cutKey); err != nil {
		return err
	}
	if err := s.failed(); err != nil || s.opts.ReadOnly {
		return err
	}
	return s.made()
}

// lossOf says that state is damaged where Pebble did not find what it had written.
func lossOf(err error) error {
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, pebble.ErrDBDoesNotExist) || errors.Is(err, pebble.ErrDBNotPristine) {
		return fault.Errorf(fault.StateDamaged, "%w", err)
	}
	return err
}

// Shard returns shard i of a stage. In the stage's tables it owns the key groups g with
// keyenc.Shard(g, Shards) == i.
func (s *Store) Shard(stage, i int) *Shard { return s.shards[stage*s.opts.Shards+i] }

// maxStages is what a table id has room for.
const maxStages = 256

// TableID is the id of a stage's table: stages sort before tables, so that what is frozen of different shards
// never interleaves within a key group.
func TableID(stage, table uint8) uint16 { return uint16(stage)<<8 | uint16(table) }

// Cut returns what the last Commit stored, nil when nothing was ever committed.
func (s *Store) Cut() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cut
}

// Meta returns the value stored under key, nil when there is none.
func (s *Store) Meta(key string) ([]byte, error) {
	if s.db == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.meta[key], nil
	}
	v, err := s.get(metaKey(key))
	return v, s.fault(err)
}

// SetMeta stores a value under key, durably when it returns.
func (s *Store) SetMeta(key string, v []byte) error {
	if s.db == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.meta[key] = append([]byte{}, v...)
		return nil
	}
	s.committing.Lock()
	defer s.committing.Unlock()
	if err := s.failed(); err != nil {
		return err
	}
	if err := s.db.Set(metaKey(key), v, pebble.Sync); err != nil {
		return s.fail(err)
	}
	return s.failed()
}

// get reads one of the store's own keys; nil when it is not there.
func (s *Store) get(key []byte) ([]byte, error) {
	v, c, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v = append([]byte{}, v...)
	return v, c.Close()
}

// Stats are a store's numbers, those of memory as of the last Maintain, Freeze or Durable of each shard.
type Stats struct {
	Rows    int64 // live entries, in memory and on disk
	Live    int64 // bytes of entries and indexes in memory
	Held    int64 // bytes of memory in use for them
	Dirty   int64 // bytes of the entries to be written at the next checkpoint
	Frozen  int64 // bytes of the checkpoint in flight
	Loaded  int64 // keys read from disk
	Evicted int64 // entries that left memory
	Commits int64
	Written int64 // entries written by commits
	Spilled int64 // entries written to runs, see run.go
	Disk    int64 // bytes of the state directory's tables
}

// Restored is the number of live rows that were on disk at Open. Together with the tables' Rows it is the
// number of all rows.
func (s *Store) Restored() int64 {
	var n int64
	for _, r := range s.restored {
		n += r
	}
	return n
}

// Stats returns the store's numbers.
func (s *Store) Stats() Stats {
	st := Stats{Commits: s.commits.Load(), Written: s.rowsWritten.Load(), Spilled: s.spilled.Load(), Rows: s.Restored()}
	for _, sh := range s.shards {
		st.Rows += sh.shown.rows.Load()
		st.Live += sh.shown.live.Load()
		st.Held += sh.shown.held.Load()
		st.Dirty += sh.shown.dirty.Load()
		st.Frozen += sh.shown.frozen.Load()
		st.Loaded += sh.shown.loaded.Load()
		st.Evicted += sh.shown.evicted.Load()
	}
	if s.db != nil {
		st.Disk = int64(s.db.Metrics().DiskSpaceUsage())
	}
	return st
}

// Close releases the memory and the lock. No shard may be in use, nor Commit or Stats. Nothing is
// committed: what was not, is lost, and comes again from the input. After a failure it returns that.
func (s *Store) Close() error {
	err := s.release()
	if cause := s.failed(); cause != nil {
		return cause
	}
	return s.fault(err)
}

func (s *Store) release() error {
	var errs []error
	if s.db != nil {
		errs = append(errs, s.db.Close())
		s.db = nil
	}
	for _, sh := range s.shards {
		errs = append(errs, sh.close())
	}
	s.shards = nil
	errs = append(errs, s.removeTemp())
	if s.lock != nil {
		errs = append(errs, s.unmark())
		errs = append(errs, s.lock.Close())
		s.lock = nil
	}
	return errors.Join(errs...)
}

// fault gives an error its place.
func (s *Store) fault(err error) error { return placed("state directory "+s.opts.Dir, err) }

// fail records the failure after which the store does nothing any more, and returns the first one.
func (s *Store) fail(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause == nil {
		s.cause = s.fault(err)
	}
	return s.cause
}

func (s *Store) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cause
}

func (s *Store) logf(format string, args ...any) {
	if s.opts.Logf != nil {
		s.opts.Logf(format, args...)
	}
}
