package jsonrow

import (
	"fmt"
	"strings"

	"github.com/sluicesql/sluice/connectors/spi"
)

// TimeMode is what integers mean that are dates and times, where no schema tells: Debezium's
// time.precision.mode.
type TimeMode uint8

// The time modes. All write a DATE as days.
const (
	// AdaptiveTimes are milliseconds up to a declared precision of 3, microseconds up to 6, else nanoseconds.
	AdaptiveTimes TimeMode = iota
	// AdaptiveMicroTimes are the same for timestamps, and microseconds for every TIME.
	AdaptiveMicroTimes
	// MilliTimes, MicroTimes and NanoTimes are what they say, whatever the precision.
	MilliTimes
	MicroTimes
	NanoTimes
	// TextTimes are strings; an integer is an error.
	TextTimes
)

// DecimalMode is what strings mean that are decimals, where no schema tells: Debezium's
// decimal.handling.mode.
type DecimalMode uint8

// The decimal modes.
const (
	// TellDecimals takes base64 for the unscaled value and digits for the value; a string that is both is an
	// error.
	TellDecimals DecimalMode = iota
	// UnscaledDecimals are base64 (precise).
	UnscaledDecimals
	// TextDecimals are digits (string, double).
	TextDecimals
)

// BinaryMode is what strings mean that are bytes, where no schema tells: Debezium's binary.handling.mode.
type BinaryMode uint8

// The binary modes. The zero value is base64, unless a schema says that it is some text.
const (
	AnyBinary BinaryMode = iota
	Base64
	Base64URL
	Hex
)

// Names of the options below.
const (
	timeMode     = "time-precision-mode"
	decimalMode  = "decimal-handling-mode"
	binaryMode   = "binary-handling-mode"
	unsignedMode = "bigint-unsigned-handling-mode"
)

// The values of the options, in the order of the modes that they choose.
var (
	timeModes     = []string{"adaptive", "adaptive_time_microseconds", "connect", "microseconds", "nanoseconds", "isostring"}
	decimalModes  = []string{"precise", "string", "double"}
	binaryModes   = []string{"bytes", "base64", "base64-url-safe", "hex"}
	unsignedModes = []string{"long", "precise"}
)

// DebeziumOptions declares the options that say what an encoding cannot: what Debezium's connector was set to.
func DebeziumOptions() []spi.Option {
	return []spi.Option{
		{Name: timeMode, Kind: spi.EnumOption, Default: timeModes[0], Values: timeModes,
			Help: "the time.precision.mode of Debezium's connector; a schema in the message goes before it"},
		{Name: decimalMode, Kind: spi.EnumOption, Values: decimalModes,
			Help: "the decimal.handling.mode of Debezium's connector; when not set, strings of digits and base64 are told apart, and one that is both is an error"},
		{Name: binaryMode, Kind: spi.EnumOption, Values: binaryModes,
			Help: "the binary.handling.mode of Debezium's connector; when not set, strings are base64"},
		{Name: unsignedMode, Kind: spi.EnumOption, Default: unsignedModes[1], Values: unsignedModes,
			Help: "long reads a negative integer in a column DECIMAL(20, 0) as an unsigned one of 64 bits, which Debezium's connector for MySQL writes so"},
	}
}

// SetDebezium sets the rules of reading that o asks of a format of Debezium's.
func (r *Rules) SetDebezium(o spi.Options) error {
	r.Debezium = true
	for _, c := range []struct {
		name   string
		values []string
		set    func(i int)
	}{
		{timeMode, timeModes, func(i int) { r.Times = TimeMode(i) }},
		{decimalMode, decimalModes, func(i int) { r.Decimals = DecimalMode(min(i+1, int(TextDecimals))) }},
		{binaryMode, binaryModes, func(i int) { r.Binary = []BinaryMode{Base64, Base64, Base64URL, Hex}[i] }},
		{unsignedMode, unsignedModes, func(i int) { r.Unsigned = i == 0 }},
	} {
		v, err := o.Enum(c.name, "", c.values...)
		if err != nil {
			return err
		}
		for i, known := range c.values {
			if v == known {
				c.set(i)
			}
		}
	}
	return nil
}

// setOption is the remedy that names an option and its values.
func (d *Decoder) setOption(name string, values []string) string {
	return fmt.Sprintf("set '%s.%s' to what Debezium's connector has (%s)", d.Format, name, strings.Join(values, ", "))
}
