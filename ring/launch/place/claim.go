package place

import (
	"fmt"

	"ringtrain/ring/launch/internal/environ"
)

// claim is what one dialect says about the place of this worker.
type claim struct {
	Place             // Rank -1, WorldSize 0: unknown. Listen: the address configured for this worker, if any
	rendezvous string // address of the rendezvous; "" if the dialect gives none
	missing    error  // why the rendezvous or the world size is unknown
}

// detectPlace asks all dialects and returns the claim that counts. g may give a world size
// and a rendezvous.
func detectPlace(e environ.Vars, g explicitPlace) (claim, error) {
	claims, err := tfConfig(e)
	if err != nil {
		return claim{}, err
	}
	for _, d := range dialects {
		if d.last && len(claims) > 0 {
			continue
		}
		c, err := d.claim(e, g)
		if err != nil {
			return claim{}, err
		}
		if c != nil {
			claims = append(claims, *c)
		}
	}
	if len(claims) == 0 {
		claims = unknownLaunchers(e)
	}
	for _, c := range claims {
		if c.NotNeeded != "" {
			return c, nil
		}
	}
	if len(claims) == 0 {
		return g.claimWithoutDialect()
	}
	if err := checkAgreement(append(claims, g.sizeClaims()...)); err != nil {
		return claim{}, err
	}
	return chooseClaim(claims, g).withSize(g)
}

// checkAgreement returns an error if two claims give a different rank or world size.
func checkAgreement(claims []claim) error {
	for i, a := range claims {
		for _, b := range claims[:i] {
			ranks := a.Rank >= 0 && b.Rank >= 0 && a.Rank != b.Rank
			sizes := a.WorldSize > 0 && b.WorldSize > 0 && a.WorldSize != b.WorldSize
			if ranks || sizes {
				return fmt.Errorf("%s says %s, %s says %s: unset one, or set RINGTRAIN_RANK and RINGTRAIN_WORLD_SIZE, which silence both",
					b.Source, b.describe(), a.Source, a.describe())
			}
		}
	}
	return nil
}

// describe returns the rank and the world size of c, for errors.
func (c claim) describe() string {
	switch {
	case c.WorldSize == 0:
		return fmt.Sprintf("rank %d", c.Rank)
	case c.Rank < 0:
		return fmt.Sprintf("world size %d", c.WorldSize)
	}
	return fmt.Sprintf("rank %d of %d", c.Rank, c.WorldSize)
}

// chooseClaim returns the first claim that gives the rendezvous or can learn it, else the
// first claim.
func chooseClaim(claims []claim, g explicitPlace) claim {
	for _, c := range claims {
		if c.rendezvous != "" || c.PMI != nil || g.rendezvous != "" {
			return c
		}
	}
	return claims[0]
}

// withSize completes a claim without a world size by the explicit world size.
func (c claim) withSize(g explicitPlace) (claim, error) {
	switch {
	case c.WorldSize > 0:
	case g.size == 0:
		return claim{}, c.missing
	case c.Rank >= g.size:
		return claim{}, fmt.Errorf("%s says rank %d, want 0 to %d: %s is %d", c.Source, c.Rank, g.size-1, g.sizeName, g.size)
	default:
		c.WorldSize = g.size
	}
	return c, nil
}
