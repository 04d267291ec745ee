package model

import "testing"

// TestGoldensCommitted verifies that TensorFlow's numbers are in the repository, so that
// a clone alone can compare losses.
func TestGoldensCommitted(t *testing.T) {
	t.Setenv("RINGTRAIN_SHARED", t.TempDir())
	t.Setenv("CI", "")
	for _, name := range []string{"auc.json", "softmax_xent_sparse.json", "sigmoid_xent_large.json", "squared_error.json"} {
		t.Run("file="+name, func(sub *testing.T) {
			defer func() {
				if sub.Skipped() {
					t.Errorf("%s is not in the repository", name)
				}
			}()
			var v any
			golden(sub, name, &v)
		})
	}
}
