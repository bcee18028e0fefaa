"""``pandas``: what only asks a table is done as it stands, whose numbers are constants.

Of what derivatives flow into, the arrays are to be computed with (``df["x"].to_numpy() * p``): the methods of tables
are not differentiated.
"""

import pandas as pd
from pandas.core import indexing
from pandas.core.groupby import DataFrameGroupBy, SeriesGroupBy
from pandas.core.indexes import accessors
from pandas.core.window import Expanding, Rolling

from autodiff_hook.registry import registry

STATISTICS = "all any count max mean median min nunique prod quantile size std sum var"
VALUES = """
    T array copy dtype empty hasnans is_monotonic_decreasing is_monotonic_increasing is_unique isin isna isnull name
    ndim notna notnull round shape to_numpy unique values
"""
TABLES = f"""
    {STATISTICS} {VALUES} abs astype at between clip columns corr cov cummax cummin cumprod cumsum describe diff
    drop_duplicates dropna dt dtypes duplicated expanding ffill bfill fillna first_valid_index get groupby head iat
    idxmax idxmin iloc index interpolate item iterrows items itertuples keys kurt last_valid_index loc nlargest
    nsmallest pct_change rank reindex reset_index rolling sample sem set_index shift skew sort_index sort_values tail
    transpose tz_convert tz_localize value_counts
"""
INDEXES = f"""
    {STATISTICS} {VALUES} asof astype day day_of_year dayofweek dayofyear days get_indexer get_loc hour microsecond
    minute month names nanosecond nlevels normalize quarter searchsorted second total_seconds tz weekday year
"""
MOMENTS = """
    asm8 ceil day day_of_week day_of_year dayofweek dayofyear days floor hour isoformat microsecond microseconds minute
    month nanosecond nanoseconds normalize quarter round second seconds timestamp to_datetime64 to_julian_date to_numpy
    to_pydatetime toordinal total_seconds tz_convert tz_localize value week weekday year
"""

for cls in (pd.DataFrame, pd.Series):
    registry.add_asked(cls, TABLES)
for cls in (pd.Index, pd.RangeIndex, pd.DatetimeIndex, pd.TimedeltaIndex, pd.CategoricalIndex, pd.MultiIndex):
    registry.add_asked(cls, INDEXES)
for cls in (pd.Timestamp, pd.Timedelta):
    registry.add_asked(cls, MOMENTS)
for cls in (indexing._iLocIndexer, indexing._LocIndexer, indexing._AtIndexer, indexing._iAtIndexer):
    registry.add_asked(cls, "")
for cls in (accessors.DatetimeProperties, accessors.TimedeltaProperties):
    registry.add_asked(cls, INDEXES)
for cls in (DataFrameGroupBy, SeriesGroupBy):
    registry.add_asked(cls, f"{STATISTICS} first last get_group ngroups")
for cls in (Rolling, Expanding):
    registry.add_asked(cls, STATISTICS)
