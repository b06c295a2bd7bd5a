"""One door for data: path, array, frame or sparse matrix in, a map out."""
