# %% [markdown]
# # Engineering: stop the pump before it breaks
#
# A pump fails in two ways: it cavitates when the pressure at its inlet is too low for
# the temperature, and its bearing breaks when it vibrates more than its speed explains.
# Both are limits on *combinations* of measurements, where usual trees need a staircase
# of splits. The table is made up by these two laws and some noise, so that you can run
# this anywhere.
#
# So a tree with such splits suits it by design: the figures show how the package is
# used, not how good it is in general.

# %%
import numpy as np
import pandas as pd

rng = np.random.default_rng(1)
rows = 1000
pump = pd.DataFrame(
    {
        "speed": rng.uniform(900, 3000, rows).round(0),
        "inlet pressure": rng.uniform(0.3, 2.0, rows).round(2),
        "temperature": rng.uniform(15, 90, rows).round(1),
        "flow": rng.uniform(20, 60, rows).round(1),
        "vibration": np.nan,
    }
)
pump["vibration"] = (pump["speed"] / 1000 + rng.gamma(3, 0.5, rows)).round(2)
cavitates = pump["inlet pressure"] < 0.2 + 0.008 * pump["temperature"]
is_loose = pump["vibration"] > 2.6 + 0.9 * pump["speed"] / 1000
state = np.where((cavitates | is_loose) ^ (rng.random(rows) < 0.02), "fails", "runs")
print(pump.assign(state=state).head(4).to_string(index=False))
print(f"{np.mean(state == 'fails'):.0%} of the pumps failed within a week")

# %% [markdown]
# A missed failure costs 5 visits of a mechanic, a false alarm one visit. The same costs
# count for the tree, and for the comparison on rows that were held back.

# %%
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from miptree import OptimalTreeClassifier

train, new, y, y_new = train_test_split(pump, state, test_size=0.4, random_state=0)
costs = {"fails": 5, "runs": 1}
clf = OptimalTreeClassifier(
    max_depth=2,
    max_features_per_split=3,
    class_weight=costs,
    solver="search",
    max_iter=200,
    time_limit=None,
    random_state=0,
)
models = {
    "CART of depth 2": DecisionTreeClassifier(max_depth=2, class_weight=costs),
    "CART of depth 4": DecisionTreeClassifier(max_depth=4, class_weight=costs),
    "logistic regression": make_pipeline(
        StandardScaler(), LogisticRegression(class_weight=costs)
    ),
    "miptree of depth 2": clf,
}
for name, model in models.items():
    predicted = model.fit(train, y).predict(new)
    (_, missed), (false_alarms, _) = confusion_matrix(y_new, predicted)
    visits = 5 * missed + false_alarms
    print(
        f"{name:20} {missed:3} missed, {false_alarms:3} false alarms: {visits} visits"
    )

# %% [markdown]
# ## Two laws in two splits

# %%
from miptree import export_text

print(export_text(clf))

# %%
from miptree.plot import plot_tree

axes = plot_tree(clf, train, y)

# %% [markdown]
# ## Into the controller
#
# The tree as C without any library, which decides as `predict` does, to the last bit.

# %%
from miptree import export_c

print(export_c(clf))
