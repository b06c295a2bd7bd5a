"""The methods, one file each; ``METHODS`` is where they live: all that a model file can name."""

METHODS = {
    "ClassicalMDS": "gramian.methods.classical_mds",
    "GenotypePCA": "gramian.methods.genotypes",
    "Isomap": "gramian.methods.isomap",
    "ICA": "gramian.methods.ica",
    "KernelPCA": "gramian.methods.kernel_pca",
    "MDS": "gramian.methods.mds",
    "LaplacianEigenmaps": "gramian.methods.laplacian",
    "LocallyLinearEmbedding": "gramian.methods.locally_linear",
    "LSI": "gramian.methods.lsi",
    "MaximumVarianceUnfolding": "gramian.methods.unfolding",
    "PCA": "gramian.methods.pca",
    "ProbabilisticPCA": "gramian.methods.ppca",
    "RandomProjection": "gramian.methods.random_projection",
}
