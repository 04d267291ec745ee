package launch

import "fmt"

// claim is what one dialect says about this worker's place.
type claim struct {
	Place         // Rank -1, WorldSize 0: not said. Listen: the address configured for this worker, if any
	own    string // where the dialect puts the rendezvous; "" if it does not say
	lacks  error  // why it does not
	refuse string // non-empty: a dialect that is not built, and its name for people
}

// hear asks all dialects, and the given world size, and returns the claim that
// counts.
func hear(e environment, g given) (claim, error) {
	var claims []claim
	for _, dialect := range []func(environment) (*claim, error){
		tfConfig, torch, openMPI, torchrun, pmi, slurm, kubernetes,
	} {
		c, err := dialect(e)
		if err != nil {
			return claim{}, err
		}
		if c == nil {
			continue
		}
		if c.NotNeeded != "" {
			return *c, nil
		}
		claims = append(claims, *c)
	}
	if len(claims) == 0 {
		return g.alone()
	}
	if err := agree(append(claims, g.sizeOnly()...)); err != nil {
		return claim{}, err
	}
	return choose(claims, g)
}

// agree checks that no two claims give a different rank or size.
func agree(claims []claim) error {
	for i, a := range claims {
		for _, b := range claims[:i] {
			ranks := a.Rank >= 0 && b.Rank >= 0 && a.Rank != b.Rank
			sizes := a.WorldSize > 0 && b.WorldSize > 0 && a.WorldSize != b.WorldSize
			if ranks || sizes {
				return fmt.Errorf("%s says %s, %s says %s: unset one, or set RINGTRAIN_RANK and RINGTRAIN_WORLD_SIZE, which silence both",
					b.Source, b.says(), a.Source, a.says())
			}
		}
	}
	return nil
}

func (c claim) says() string {
	switch {
	case c.WorldSize == 0:
		return fmt.Sprintf("rank %d", c.Rank)
	case c.Rank < 0:
		return fmt.Sprintf("world size %d", c.WorldSize)
	}
	return fmt.Sprintf("rank %d of %d", c.Rank, c.WorldSize)
}

// choose returns the first claim that is built and knows the rendezvous, or
// else the first that is built.
func choose(claims []claim, g given) (claim, error) {
	var chosen *claim
	for i, c := range claims {
		if c.refuse != "" {
			continue
		}
		if chosen == nil {
			chosen = &claims[i]
		}
		if c.own != "" || g.rendezvous != "" {
			chosen = &claims[i]
			break
		}
	}
	if chosen == nil {
		return claim{}, fmt.Errorf("%s is not built yet: set RINGTRAIN_RANK, RINGTRAIN_WORLD_SIZE and RINGTRAIN_RENDEZVOUS", claims[0].refuse)
	}
	return *chosen, nil
}
