package fault

// Code names a kind of fault, for people who look it up in docs/errors.md and for programs. Those of mistakes in SQL and of
// lints are in package ast.
type Code string

// The codes of options, which are at fault in SQL and, where a file that they name cannot be read, when a job starts.
const (
	Option      Code = "option"
	OptionValue Code = "option-value"
)

// The codes of messages that cannot be read as changes of their table.
const (
	MessageSyntax      Code = "message-syntax"
	MessageType        Code = "message-type"
	MessageRange       Code = "message-range"
	MessageNull        Code = "message-null"
	MessageMissing     Code = "message-missing"
	MessageUnavailable Code = "message-unavailable"
	MessageFields      Code = "message-fields"
	MessageOp          Code = "message-op"
	MessageBefore      Code = "message-before"
	MessageAfter       Code = "message-after"
	MessageKey         Code = "message-key"
	MessageSchema      Code = "message-schema"
	MessageTruncate    Code = "message-truncate"
	MessageNone        Code = "message-none"
	MessageAbsent      Code = "message-absent"
	MessageUnit        Code = "message-unit"
)

// The codes of rows with which a query cannot go on.
const (
	RowValue         Code = "row-value"
	RowContradiction Code = "row-contradiction"
	RowSeveral       Code = "row-several"
	RowNull          Code = "row-null"
	RowFormat        Code = "row-format"
)

// The codes of Kafka.
const (
	KafkaUnreachable  Code = "kafka-unreachable"
	KafkaTLS          Code = "kafka-tls"
	KafkaCredentials  Code = "kafka-credentials"
	KafkaDenied       Code = "kafka-denied"
	KafkaTopic        Code = "kafka-topic"
	KafkaTopicChanged Code = "kafka-topic-changed"
	KafkaOffset       Code = "kafka-offset"
	KafkaTimeout      Code = "kafka-timeout"
	KafkaRefused      Code = "kafka-refused"
	KafkaRecordSize   Code = "kafka-record-size"
	KafkaFenced       Code = "kafka-fenced"
	KafkaDamaged      Code = "kafka-damaged"
)

// The codes of what a job keeps, and of jobs.
const (
	StateDirectory Code = "state-directory"
	StateLocked    Code = "state-locked"
	StateVersion   Code = "state-version"
	StateDamaged   Code = "state-damaged"
	StatePlan      Code = "state-plan"
	StateUnended   Code = "state-unended"
	StateOutput    Code = "state-output"
	StateSink      Code = "state-sink"
	Savepoint      Code = "savepoint"
	Disk           Code = "disk"
	JobUnknown     Code = "job-unknown"
	JobRequest     Code = "job-request"
	JobLimit       Code = "job-limit"
)

// The codes of the command line and of files.
const (
	CommandLine Code = "command-line"
	File        Code = "file"
	Pipeline    Code = "pipeline"
	Secret      Code = "secret"
	Test        Code = "test"
	Internal    Code = "internal"
)

// Part is a part of the list of codes.
type Part struct {
	Title string
	Codes []Described
}

// Described is a code with a sentence that says what it means.
type Described struct {
	Code     Code
	Sentence string
}

// Parts are the codes in the order of the documentation.
func Parts() []Part {
	return []Part{
		{"Messages", []Described{
			{MessageSyntax, "A message is not what its format wants at all."},
			{MessageType, "A field holds a value of another type than its column."},
			{MessageRange, "A field holds a value that its column's type has no room for."},
			{MessageNull, "A field is null or missing, and its column is declared NOT NULL."},
			{MessageMissing, "A field is missing, and the format was told that none may be."},
			{MessageUnavailable, "An event left out a value that did not change (PostgreSQL's TOAST), and nothing is known to take it from."},
			{MessageFields, "A record of separated values has another number of fields than the table has columns."},
			{MessageOp, "An event does not say what happened to the row, or says what is not known."},
			{MessageBefore, "An event does not hold the row as it was before."},
			{MessageAfter, "An event does not hold the row as it is now."},
			{MessageKey, "The message's key does not say which row it is about."},
			{MessageSchema, "The schema that a message embeds is missing, or cannot be read."},
			{MessageTruncate, "The topic's partitions do not tell which rows came before a TRUNCATE of the table."},
			{MessageNone, "No message of a sample holds a row."},
			{MessageAbsent, "No row of a sample has a field of the column's name, so that the column would be NULL everywhere."},
			{MessageUnit, "The numbers of a sample look like times in another unit than they are read in."},
		}},
		{"Rows", []Described{
			{RowValue, "An expression has no value for a row."},
			{RowContradiction, "The changes of a table contradict one another: a row goes that was not there, or two have one key."},
			{RowSeveral, "A subquery gives several rows where one value is needed."},
			{RowNull, "A row has NULL in a column that is declared NOT NULL."},
			{RowFormat, "The sink's format has no form for a value."},
		}},
		{"Kafka", []Described{
			{KafkaUnreachable, "No broker answers at the addresses given."},
			{KafkaTLS, "The connection to a broker cannot be made secure."},
			{KafkaCredentials, "A broker does not accept who we say we are."},
			{KafkaDenied, "The user may not do this on the cluster."},
			{KafkaTopic, "There is no such topic, and none is made."},
			{KafkaTopicChanged, "A topic was deleted, made again or lost partitions since the job read or wrote it."},
			{KafkaOffset, "There is no offset to begin at, or what lies there is gone."},
			{KafkaTimeout, "The cluster did not do what was asked within the time given."},
			{KafkaRefused, "A broker refuses a request for another reason."},
			{KafkaRecordSize, "A row makes a record that is larger than the topic takes."},
			{KafkaFenced, "Another process writes in this job's name."},
			{KafkaDamaged, "What a broker sent cannot be read as records."},
		}},
		{"State and jobs", []Described{
			{StateDirectory, "A directory does not hold, or cannot take, the state of a job."},
			{StateLocked, "Another process uses the state directory."},
			{StateVersion, "Another version of sluice wrote the state."},
			{StateDamaged, "The files of a state directory do not fit together, or hold what was never written."},
			{StatePlan, "The SQL has changed in a way that would lose state."},
			{StateUnended, "The job did not end in order, and has to before this can be done."},
			{StateOutput, "Output waits in the state directory that cannot be delivered as it is."},
			{StateSink, "The sink and the state directory tell different histories."},
			{Savepoint, "A savepoint cannot be made, or state be restored from one."},
			{Disk, "A file cannot be read or written."},
			{JobUnknown, "No such job runs."},
			{JobRequest, "A job cannot do what it was asked for."},
			{JobLimit, "A job or a result is larger than it may be."},
		}},
		{"The command line and files", []Described{
			{CommandLine, "The command line is wrong."},
			{File, "A file that is named is not there, or cannot be read."},
			{Pipeline, "The file sluice.yaml is wrong."},
			{Secret, "A secret has no value."},
			{Test, "A file of tests is wrong."},
			{Internal, "A mistake in sluice itself."},
		}},
	}
}

// Sentence says what a code means; empty for one that is not listed.
func Sentence(c Code) string {
	for _, p := range Parts() {
		for _, d := range p.Codes {
			if d.Code == c {
				return d.Sentence
			}
		}
	}
	return ""
}
