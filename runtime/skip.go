package runtime

// Skip names one message of a source that is not read.
type Skip struct {
	Table     string `json:"table"`
	Topic     string `json:"topic,omitempty"` // empty where the table has one topic
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}
