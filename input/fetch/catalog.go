package fetch

import "time"

// set is a named data set: the files of a folder of that name.
type set struct {
	name  string
	bases []string // URL prefixes of the published files
	files []file
	pause time.Duration // see remote.Config
}

// file is one file of a set.
type file struct {
	path   string // path in the set's folder, with slashes
	remote string // path below a base
	bytes  int64
	sha256 string
}

// catalog returns the data sets that can be fetched.
func catalog() []set {
	return []set{{
		name: "mnist",
		bases: []string{
			"https://storage.googleapis.com/cvdf-datasets/mnist/",
			"https://ossci-datasets.s3.amazonaws.com/mnist/",
		},
		files: []file{
			{"train-images-idx3-ubyte.gz", "train-images-idx3-ubyte.gz", 9912422, "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
			{"train-labels-idx1-ubyte.gz", "train-labels-idx1-ubyte.gz", 28881, "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
			{"t10k-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte.gz", 1648877, "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
			{"t10k-labels-idx1-ubyte.gz", "t10k-labels-idx1-ubyte.gz", 4542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"},
		},
	}, {
		name: "a8a",
		bases: []string{
			"https://raw.githubusercontent.com/tobegit3hub/tensorflow_template_application/a2be179bf5e2624cdc3c0ed3cf8b5f7eff87777d/data/a8a/",
		},
		files: []file{
			{"int64-label/a8a_train.libsvm.tfrecords", "a8a_train.libsvm.tfrecords", 3003923, "d468f46447b134178a577008a0b7012a19ba0276ec985616aca51f807d4c8861"},
			{"int64-label/a8a_test.libsvm.tfrecords", "a8a_test.libsvm.tfrecords", 1305380, "62839726634e3f362e35f856bf51092c5f2eee76f9c2612a2f074e17b3fd80f4"},
		},
	}}
}
