package cdcbench

import "strconv"

// operation is Debezium's op.
type operation string

const (
	snapshotRead operation = "r"
	create       operation = "c"
	update       operation = "u"
	remove       operation = "d"
)

// position is where in the source database's log an event stands.
type position struct {
	lsn   int64
	txid  int64
	clock int64 // Unix milliseconds
}

var firstPosition = position{lsn: 26_541_240, txid: 771, clock: 1_764_450_000_000}

const lsnStep = 88

// AppendKey appends the record key of a row: {"id":N}.
func AppendKey(b []byte, id int32) []byte {
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, int64(id), 10)
	return append(b, '}')
}

func (m *Model) userEvent(id int32, before, after *user, op operation) Event {
	b := appendRow(newEnvelope(), before, id, user.appendJSON)
	b = append(b, `,"after":`...)
	b = appendRow(b, after, id, user.appendJSON)
	b = m.source.appendRest(b, "users", op)
	m.Counts.UserEnvelopes++
	m.Counts.ValueBytes += int64(len(b))
	return Event{Table: Users, ID: id, Value: b}
}

func (m *Model) domainEvent(id int32, before, after *domain, op operation) Event {
	b := appendRow(newEnvelope(), before, id, domain.appendJSON)
	b = append(b, `,"after":`...)
	b = appendRow(b, after, id, domain.appendJSON)
	b = m.source.appendRest(b, "domains", op)
	m.Counts.DomainEnvelopes++
	m.Counts.ValueBytes += int64(len(b))
	return Event{Table: Domains, ID: id, Value: b}
}

func newEnvelope() []byte { return append(make([]byte, 0, 640), `{"before":`...) }

// appendRow appends a row image, or null for none.
func appendRow[R any](b []byte, row *R, id int32, appendJSON func(R, []byte, int32) []byte) []byte {
	if row == nil {
		return append(b, "null"...)
	}
	return appendJSON(*row, b, id)
}

func (u user) appendJSON(b []byte, id int32) []byte {
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, int64(id), 10)
	b = append(b, `,"firstname":"`...)
	b = append(b, firstNames[u.first]...)
	b = append(b, `","lastname":"`...)
	b = u.appendLastName(b)
	return append(b, `"}`...)
}

func (d domain) appendJSON(b []byte, id int32) []byte {
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, int64(id), 10)
	b = append(b, `,"user_id":`...)
	b = strconv.AppendInt(b, int64(d.user), 10)
	b = append(b, `,"domain_name":"`...)
	b = d.appendName(b, id)
	return append(b, `"}`...)
}

// appendRest advances the position by one event and appends what follows the row
// images, to the envelope's end. A snapshot is one transaction; then every change
// is one.
func (p *position) appendRest(b []byte, table string, op operation) []byte {
	previous := p.lsn
	p.lsn += lsnStep
	p.clock++
	if op != snapshotRead {
		p.txid++
	}
	processed := p.clock + 123

	b = append(b, `,"source":{"version":"3.0.8.Final","connector":"postgresql","name":"app"`...)
	b = appendInt(b, `,"ts_ms":`, p.clock)
	if op == snapshotRead {
		b = append(b, `,"snapshot":"true","db":"app","sequence":"[null,\"`...)
	} else {
		b = appendInt(b, `,"snapshot":"false","db":"app","sequence":"[\"`, previous)
		b = append(b, `\",\"`...)
	}
	b = strconv.AppendInt(b, p.lsn, 10)
	b = appendInt(b, `\"]","ts_us":`, p.clock*1_000)
	b = appendInt(b, `,"ts_ns":`, p.clock*1_000_000)
	b = append(b, `,"schema":"public","table":"`...)
	b = append(b, table...)
	b = appendInt(b, `","txId":`, p.txid)
	b = appendInt(b, `,"lsn":`, p.lsn)
	b = append(b, `,"xmin":null},"transaction":null,"op":"`...)
	b = append(b, op...)
	b = appendInt(b, `","ts_ms":`, processed)
	b = appendInt(b, `,"ts_us":`, processed*1_000+457)
	b = appendInt(b, `,"ts_ns":`, processed*1_000_000+457_089)
	return append(b, '}')
}

func appendInt(b []byte, name string, v int64) []byte {
	return strconv.AppendInt(append(b, name...), v, 10)
}
