package expr

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// randomFunctions give another value at every call. With a seed a call gives the same sequence in every run, in each
// goroutine that evaluates it.
func randomFunctions() []*Function {
	return []*Function{
		{
			Name: "RAND", Category: Arithmetic, Signature: "RAND([seed])", Help: "A random number from 0 to below 1.", Volatile: true, random: true,
			bind: bindRand,
			build: func(call *Call, args []Fn) (Fn, error) {
				if len(args) == 0 {
					return func(*Ctx, row.Row) row.Datum { return row.Float(rand.Float64()) }, nil
				}
				return strict1(args[0], func(c *Ctx, seed row.Datum) row.Datum { return row.Float(c.seeded(call, seed.I).Float64()) }), nil
			},
		},
		{
			Name: "RAND_INTEGER", Category: Arithmetic, Signature: "RAND_INTEGER([seed,] bound)", Help: "A random integer from 0 to below bound.", Volatile: true, random: true,
			bind: sig{params: []param{anInt, anInt}, min: 1, ret: returnsInt}.bind,
			build: func(call *Call, args []Fn) (Fn, error) {
				return evalNOf(args, func(c *Ctx, args []row.Datum) row.Datum {
					bound := args[len(args)-1].I
					switch {
					case bound <= 0 || bound > math.MaxInt32:
						return c.fail(fmt.Errorf("RAND_INTEGER: bound %d must be a positive INT", bound))
					case len(args) == 1:
						return row.Int(rand.Int64N(bound))
					}
					return row.Int(c.seeded(call, args[0].I).Int64N(bound))
				}), nil
			},
		},
	}
}

func bindRand(args []Expr) ([]Expr, types.Type, error) {
	if len(args) == 0 {
		return nil, types.Of(types.Double).Required(), nil
	}
	return sig{params: []param{anInt}, ret: returnsDouble}.bind(args)
}

// seeded is the source of random numbers of a call, begun with the seed of its first evaluation.
func (c *Ctx) seeded(call *Call, seed int64) *rand.Rand {
	r := c.sources[call]
	if r == nil {
		r = rand.New(rand.NewPCG(uint64(seed), 0))
		if c.sources == nil {
			c.sources = map[*Call]*rand.Rand{}
		}
		c.sources[call] = r
	}
	return r
}
