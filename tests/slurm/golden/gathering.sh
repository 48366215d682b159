#!/bin/bash
#SBATCH --job-name=queue-0123abcd
#SBATCH --partition=compute
#SBATCH --account=scheduling-research
#SBATCH --qos=normal
#SBATCH --constraint="epyc&big"
#SBATCH --comment="a \"b\" c"
#SBATCH --ntasks=1
#SBATCH --mem=32G
#SBATCH --time=60
#SBATCH --kill-on-invalid-dep=yes
#SBATCH --requeue
#SBATCH --open-mode=append
# Writes the dataset of a sweep from whatever its elements have left.
unset SCHEDSWEEP_KERNELS NUMBA_CACHE_DIR
module purge
module load python/3.11
source "$HOME/sweeps/.venv/bin/activate"
export PYTHONPATH='/opt/my models:/ROOT'
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 BLIS_NUM_THREADS=1 VECLIB_MAXIMUM_THREADS=1
cd '/home/ada/Bär'"'"'s "runs"' || exit
exec python -P -m slurm.gathering '/home/ada/Bär'"'"'s "runs"/results/queue/slurm/007'
