package kafka

import "time"

// alarmEvery is how often people are told again of brokers that do not answer.
const alarmEvery = 30 * time.Second

// alarm says when a trouble is worth a warning: when it begins, and every while as it lasts. Its zero value is
// quiet. One goroutine uses it.
type alarm struct{ told time.Time }

// due reports whether to warn now, and notes that this is done.
func (a *alarm) due(now time.Time, every time.Duration) bool {
	if now.Sub(a.told) < every {
		return false
	}
	a.told = now
	return true
}

// over ends the trouble: the next one is told at once.
func (a *alarm) over() { *a = alarm{} }
