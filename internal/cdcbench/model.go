package cdcbench

import (
	"math/rand/v2"
	"strconv"
)

var (
	firstNames = []string{"Anna", "Béla", "Chen", "Dmitri", "Elif", "Farah", "Giulia", "Hugo", "Ines", "Jonas", "Katya", "Liam", "Mónica",
		"Noah", "Olga", "Pavel", "Quentin", "Rosa", "Søren", "Tomás", "Uma", "Viktor", "Wanda", "Xavier", "Yusuf", "Zoé"}
	lastNames = []string{"Kovacs", "Smith", "García", "Ivanov", "Müller", "Rossi", "Nguyen", "Okafor", "Sato", "O'Brien", "Jensen", "Kowalski",
		"Silva", "Popescu", "Haddad", "Lindqvist"}
	topLevel = []string{"com", "org", "net", "io", "dev", "co.uk"}
)

// user is a row of users without its id. Users are never deleted.
type user struct {
	first  uint8
	last   uint8
	number uint32
	mark   int64 // when not 0, the last name is this mark: see Model.Mark
}

func (u user) appendLastName(b []byte) []byte {
	if u.mark != 0 {
		return appendMark(b, u.mark)
	}
	b = append(b, lastNames[u.last]...)
	b = append(b, '-')
	return strconv.AppendInt(b, int64(u.number), 10)
}

// domain is a row of domains without its id.
type domain struct {
	user    int32
	version uint32
	live    bool
	mark    int64 // when not 0, the name begins with this mark
}

func (d domain) appendName(b []byte, id int32) []byte {
	if d.mark != 0 {
		b = append(appendMark(b, d.mark), '.')
	}
	b = append(b, "site-"...)
	b = strconv.AppendInt(b, int64(id), 10)
	b = append(b, "-v"...)
	b = strconv.AppendInt(b, int64(d.version), 10)
	b = append(b, ".example."...)
	return append(b, topLevel[int(id)%len(topLevel)]...)
}

// Table says which of the two tables an event belongs to.
type Table uint8

// The two tables.
const (
	Users Table = iota
	Domains
)

// Event is a record of one of the topics. A nil Value is a tombstone.
type Event struct {
	Table Table
	ID    int32
	Value []byte
}

// Counts are what a model has emitted. Tombstones are not envelopes.
type Counts struct {
	UserEnvelopes   int64
	DomainEnvelopes int64
	Tombstones      int64
	ValueBytes      int64
}

// Envelopes is the number that throughput is counted in.
func (c Counts) Envelopes() int64 { return c.UserEnvelopes + c.DomainEnvelopes }

// Model holds both tables as they are after the events emitted so far. The order
// in which it draws random numbers is part of the workload's definition.
type Model struct {
	Counts Counts

	initialUsers int
	random       *rand.Rand
	users        []user   // by id; 0 is unused
	domains      []domain // by id; 0 is unused
	source       position
}

// NewModel makes the tables of size as they are before the snapshot is emitted.
func NewModel(size Size, seed uint64) *Model {
	n := size.Users
	m := &Model{
		initialUsers: n,
		random:       rand.New(rand.NewPCG(seed, 0x5eed)),
		users:        make([]user, n+1, n+n/8+1),
		domains:      make([]domain, 3*n+1, 3*n+3*n/8+1),
		source:       firstPosition,
	}
	for id := 1; id <= n; id++ {
		m.users[id] = m.drawUser()
	}
	for id := 1; id <= 3*n; id++ {
		m.domains[id] = domain{user: m.drawUserID(), live: true}
	}
	return m
}

func (m *Model) drawUser() user {
	first := m.random.IntN(len(firstNames))
	last := m.random.IntN(len(lastNames))
	number := m.random.IntN(100_000)
	return user{first: uint8(first), last: uint8(last), number: uint32(number)}
}

// drawUserID draws from the first users and 2 % more ids, which have no user at
// first; some get one when users are inserted.
func (m *Model) drawUserID() int32 {
	return int32(1 + m.random.IntN(m.initialUsers+m.initialUsers/50))
}

func (m *Model) drawLiveDomain() int32 {
	for {
		if id := int32(1 + m.random.IntN(len(m.domains)-1)); m.domains[id].live {
			return id
		}
	}
}

// Snapshot emits every row as a snapshot's read, users first. It may be called
// once, before any change. It returns emit's first error.
func (m *Model) Snapshot(emit func(Event) error) error {
	for id := 1; id < len(m.users); id++ {
		if err := emit(m.userEvent(int32(id), nil, &m.users[id], snapshotRead)); err != nil {
			return err
		}
	}
	for id := 1; id < len(m.domains); id++ {
		if err := emit(m.domainEvent(int32(id), nil, &m.domains[id], snapshotRead)); err != nil {
			return err
		}
	}
	return nil
}

// Change makes one change and emits it: one envelope, and a tombstone after a
// delete.
func (m *Model) Change(emit func(Event) error) error {
	switch p := m.random.IntN(100); {
	case p < 60:
		return emit(m.updateUser(0))
	case p < 75:
		return emit(m.updateDomain(0))
	case p < 80:
		return emit(m.moveDomain())
	case p < 90:
		deleted, tombstone := m.deleteDomain()
		if err := emit(deleted); err != nil {
			return err
		}
		return emit(tombstone)
	case p < 92:
		return emit(m.insertUser())
	default:
		return emit(m.insertDomain())
	}
}

// Mark makes one update of a user (85 %) or of a domain (15 %) that keeps the
// join key, and puts mark, a time in Unix nanoseconds, into the updated row.
func (m *Model) Mark(mark int64) Event {
	m.source.clock = mark/1_000_000 - 1
	if m.random.IntN(100)%75 < 60 {
		return m.updateUser(mark)
	}
	return m.updateDomain(mark)
}

func (m *Model) updateUser(mark int64) Event {
	id := int32(1 + m.random.IntN(len(m.users)-1))
	before := m.users[id]
	after := m.drawUser()
	after.mark = mark
	m.users[id] = after
	return m.userEvent(id, &before, &after, update)
}

func (m *Model) updateDomain(mark int64) Event {
	id := m.drawLiveDomain()
	before := m.domains[id]
	after := before
	after.mark = mark
	after.version++
	m.domains[id] = after
	return m.domainEvent(id, &before, &after, update)
}

func (m *Model) moveDomain() Event {
	id := m.drawLiveDomain()
	before := m.domains[id]
	after := before
	after.user = m.drawUserID()
	m.domains[id] = after
	return m.domainEvent(id, &before, &after, update)
}

func (m *Model) deleteDomain() (deleted, tombstone Event) {
	id := m.drawLiveDomain()
	before := m.domains[id]
	m.domains[id].live = false
	deleted = m.domainEvent(id, &before, nil, remove)
	m.Counts.Tombstones++
	return deleted, Event{Table: Domains, ID: id}
}

func (m *Model) insertUser() Event {
	m.users = append(m.users, m.drawUser())
	id := len(m.users) - 1
	return m.userEvent(int32(id), nil, &m.users[id], create)
}

func (m *Model) insertDomain() Event {
	m.domains = append(m.domains, domain{user: m.drawUserID(), live: true})
	id := len(m.domains) - 1
	return m.domainEvent(int32(id), nil, &m.domains[id], create)
}
