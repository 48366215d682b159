#!/bin/bash
#SBATCH --job-name=queue-0123abcd
#SBATCH --partition=compute
#SBATCH --account=scheduling-research
#SBATCH --qos=normal
#SBATCH --constraint="epyc&big"
#SBATCH --comment="a \"b\" c"
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=32G
#SBATCH --time=2:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
# Elements of a sweep.
unset SCHEDSWEEP_KERNELS NUMBA_CACHE_DIR
module purge
module load python/3.11
source "$HOME/sweeps/.venv/bin/activate"
export PYTHONPATH='/opt/my models:/ROOT'
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 BLIS_NUM_THREADS=1 VECLIB_MAXIMUM_THREADS=1
cd '/home/ada/Bär'"'"'s "runs"' || exit
exec python -P -m slurm.element '/home/ada/Bär'"'"'s "runs"/results/queue/slurm/007'
