package codec_test

import (
	"fmt"

	"ringtrain/ring/codec"
)

// ExampleCodec encodes four values in 16 bits each, and decodes them. What bfloat16 loses is the
// difference, which error feedback adds to the values of the next step.
func ExampleCodec() {
	values := []float32{1, -0.5, 3.14159, 1000.1}
	data := codec.BF16.Append(nil, values)
	decoded := make([]float32, len(values))
	if err := codec.BF16.Decode(decoded, data); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(data), "bytes:", decoded)
	fmt.Printf("lost of the third: %.5f\n", values[2]-decoded[2])
	// Output:
	// 8 bytes: [1 -0.5 3.140625 1000]
	// lost of the third: 0.00097
}
