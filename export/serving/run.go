package serving

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ringtrain/export/interpreter"
)

// Run answers a request by the outputs of a signature, in the order of outputs; nil are all, by key.
// The inputs are in the order of the signature's, with one dimension of records in front.
func (v *Version) Run(ctx context.Context, signature string, outputs []string, inputs []*interpreter.Tensor) ([]*interpreter.Tensor, error) {
	return nil, status.Errorf(codes.Unimplemented, "signature %q cannot be run", signature)
}
